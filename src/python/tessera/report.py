"""What a session does: whole, by node, by algorithm, by pass of the optimizer."""
import ctypes

from . import _structs
from ._library import Error, check, lib
from ._results import filled, record, values

# The members of the structs of tessera_report.h, which documents them. `candidates` of a node are
# CandidateReports.
SessionReport = record("SessionReport", _structs.tsr_report, "nodes", "optimizer_passes")
NodeReport = record("NodeReport", _structs.tsr_node_report)
CandidateReport = record("CandidateReport", _structs.tsr_candidate_report)
OptimizerPassReport = record("OptimizerPassReport", _structs.tsr_optimizer_pass_report)


def _node(session: int, index: int) -> NodeReport:
    found = values(filled(_structs.tsr_node_report, lib.tsr_session_node_report_sized, session,
                          index))
    found["candidates"] = [
        CandidateReport(**values(filled(_structs.tsr_candidate_report,
                                        lib.tsr_session_candidate_report_sized, session, index, i)))
        for i in range(found["candidates"])]
    return NodeReport(**found)


def _optimizer_passes(session: int) -> list[OptimizerPassReport]:
    found = []
    try:
        while True:
            found.append(OptimizerPassReport(**values(
                filled(_structs.tsr_optimizer_pass_report, lib.tsr_session_optimizer_pass_sized,
                       session, len(found)))))
    except Error as error:
        if error.status != "INVALID_ARGUMENT":
            raise
    return found


def make_report(session: int) -> SessionReport:
    whole = values(filled(_structs.tsr_report, lib.tsr_session_report_sized, session))
    nodes = [_node(session, i) for i in range(whole["node_count"])]
    return SessionReport(**whole, nodes=nodes, optimizer_passes=_optimizer_passes(session))


def write_dot(session: int) -> str:
    parts = []

    @_structs.tsr_write_fn
    def write(_, content, length):
        parts.append(ctypes.string_at(content, length))
        return True

    check(lib.tsr_session_write_dot(session, write, None))
    return b"".join(parts).decode(errors="surrogateescape")
