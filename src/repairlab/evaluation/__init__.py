"""Running tests and judging a repair: environments, sandboxes, runners, `resolved_at_1`.

===================  ==========================================================================
`environments`       virtual environments from a task's pinned closure, keyed by content
`sandbox`            one program on one fresh tree, apart from the machine; several backends
`runs`               what a test run is as a value, and what a runner of any language looks like
`pytest_runner`      pytest in a sandbox; its report is read by `evidence` and `outcomes`
`unittest_runner`    the same for plain unittest suites and for projects that use Django
`python_runs`        what these two share
`verdict`            pure: what counts as resolved, and why not
`evaluate`           the hidden evaluation of one repair
`public`             what a model sees of its public tests
`goldcheck`          whether a task is sound
===================  ==========================================================================

The invariant: nothing that tested code prints, writes or returns is evidence, and silence is never a pass. A
failure of the machine raises `InfrastructureFailure`; whatever a repair breaks is a value.
"""
