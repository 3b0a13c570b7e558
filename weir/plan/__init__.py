"""From the algebra of a query to its plan: which nodes are maintained, and which are stored.

In the order of their work: `lower` (a whole query), `patterns` with `named_graphs`, `path_plans`,
`exists`, `grouping`, `services` (its parts), `plan` (what is stored, under which ids);
`parameterized` and `members` make one plan of queries that differ in constants only. Nodes
(`operators`, `leaves`) answer what passes ask of them (`nodes.Operator`), so that a pass is written
once for all.

A filter is pushed down (`filters`), and products of products are one (`joins`), as soon as the node
is made, not by passes over the finished plan: lowering asks a node what is certain, and a filter
that has reached the parts of a union says less of it than one above. So with passes some queries
would have another plan, and their answers in existing lakes would be computed again.
"""
