"""The names that SHACL defines: one that is misspelt would demand nothing, silently."""

from __future__ import annotations

from weir.shacl.errors import ShapesSyntaxError
from weir.shacl.graph import ShapesGraph
from weir.shacl.vocabulary import NAMESPACE, local_name
from weir.text.near import meant

_CORE = """
Shape NodeShape PropertyShape ConstraintComponent Parameter Parameterizable PropertyGroup
PrefixDeclaration AbstractResult ValidationReport ValidationResult Severity NodeKind Validator
Info Warning Violation IRI BlankNode Literal BlankNodeOrIRI BlankNodeOrLiteral IRIOrLiteral
target targetClass targetNode targetObjectsOf targetSubjectsOf deactivated severity message property
path alternativePath inversePath oneOrMorePath zeroOrMorePath zeroOrOnePath
class datatype nodeKind minCount maxCount minExclusive minInclusive maxExclusive maxInclusive
minLength maxLength pattern flags languageIn uniqueLang equals disjoint lessThan lessThanOrEquals
not and or xone node qualifiedValueShape qualifiedMinCount qualifiedMaxCount
qualifiedValueShapesDisjoint closed ignoredProperties hasValue in
name description order group defaultValue shapesGraph suggestedShapesGraph entailment
conforms result detail focusNode resultPath value sourceShape sourceConstraint
sourceConstraintComponent resultSeverity resultMessage shapesGraphWellFormed
"""
_SPARQL = """
SPARQLConstraint SPARQLExecutable SPARQLAskExecutable SPARQLSelectExecutable SPARQLAskValidator
SPARQLSelectValidator SPARQLConstructExecutable SPARQLUpdateExecutable SPARQLTarget SPARQLTargetType
SPARQLFunction SPARQLRule sparql select ask construct update prefixes declare prefix namespace
parameter optional labelTemplate validator nodeValidator propertyValidator annotationProperty
annotationValue annotationVarName resultAnnotation ResultAnnotation currentShape
"""
_ADVANCED = """
Target TargetType Function Rule TripleRule JSConstraint JSExecutable JSFunction JSLibrary JSRule
JSTarget JSTargetType JSValidator Rules rule subject predicate object condition expression
filterShape nodeShape nodes intersection union this returnType
js jsFunctionName jsLibrary jsLibraryURL count distinct orderBy desc limit offset sum min max
groupConcat separator if then else exists
"""
NAMES = frozenset(f"{_CORE} {_SPARQL} {_ADVANCED}".split())
"""Of SHACL, SHACL-SPARQL, SHACL-AF and SHACL-JS."""
_COMPONENT = "ConstraintComponent"
_ONTOLOGY = f"<{NAMESPACE}>"
"""SHACL itself, which many shapes graphs say that they import."""


def check_names(graph: ShapesGraph) -> None:
    """Refuse a name in the namespace of SHACL that SHACL does not define.

    Raises:
        ShapesSyntaxError: the graph has one; with the place and the nearest name.
    """
    for subject in graph.subjects:
        for predicate in graph.predicates(subject):
            for term in (predicate, *graph.objects(subject, predicate)):
                name = local_name(term)
                is_ours = term.startswith(f"<{NAMESPACE}") and term != _ONTOLOGY
                if is_ours and name not in NAMES and not name.endswith(_COMPONENT):
                    raise ShapesSyntaxError(
                        f"sh:{name} of {graph.shown(subject)}",
                        graph.place(subject, f"sh:{name}"),
                        "SHACL has no such name",
                        meant(name, sorted(NAMES)).strip(),
                    )
