"""Notifications: after publication, what changed in answers is sent to channels.

A channel (`[notify.<name>]` in `weir.toml`) is a command, a webhook or a folder. The stage `notify`
(`stage`) compares the published version of each answer with the version that a channel was last
notified of, records one message for all that changed (`weir.progress.notifications`), and delivers
it (`delivery`). What could not be delivered is tried again by the next run, before anything later.
"""
