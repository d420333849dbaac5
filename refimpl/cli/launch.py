"""A process that serves: started as planned, stopped when it is asked to.

Ports are bound before anything else, so that a port in use is known before a store is opened; they
are served when the role behind them is ready.
"""

import asyncio
import gc
import logging
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import click

from refimpl.cli.plan import Plan
from refimpl.cli.role import CannotRunError, Ground, Role
from refimpl.history_log import HistoryLog
from refimpl.ports import DiskError
from refimpl.real.descriptors import fit_limits
from refimpl.real.disk import RealDisk
from refimpl.real.event_log import ROOT, tell
from refimpl.real.history_file import HistoryError, HistoryFile
from refimpl.real.port import Port, PortError
from refimpl.real.process import Process
from refimpl.real.service import Service
from refimpl.real.stop import Stop
from refimpl.real.tls import TlsError, load_tls

COLLECTOR: Final = (20_000, 20, 100)
"""Thresholds of the garbage collector; a decision, measured."""

_LOGGER = logging.getLogger(f"{ROOT}.service")

RoleMaker = Callable[[], Sequence[Role]]
"""Binds the ports of the roles, in the order in which they start."""

LogOpener = Callable[[HistoryFile, int], HistoryLog]


def run_plan(plan: Plan, make_roles: RoleMaker, open_log: LogOpener | None = None) -> int:
    """The exit code of a process that has served as planned: 0 after a clean stop."""
    with asyncio.Runner(loop_factory=_find_loop_factory()) as runner, ExitStack() as stack:
        try:
            return runner.run(_run(plan, make_roles, open_log, stack))
        except (PortError, TlsError, HistoryError) as error:
            raise CannotRunError(str(error)) from error


def _find_loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop  # noqa: PLC0415 - it is not there on every system
    except ImportError:
        return None
    return uvloop.new_event_loop


async def _run(plan: Plan, make_roles: RoleMaker, open_log: LogOpener | None, stack: ExitStack) -> int:
    stop = Stop()
    tls = load_tls(plan.tls)
    metrics_port = None
    if plan.metrics_port is not None:
        metrics_port = Port(plan.host, plan.metrics_port)
        stack.callback(metrics_port.close)
    roles = make_roles()
    for role in roles:
        stack.callback(role.release)
    disk, store_name = _open_disk(plan, stack)
    history = None
    if plan.history is not None:
        history = HistoryFile(plan.history, plan.history_bytes)
        stack.callback(history.close)
    process = Process(fit_limits(plan.limits))
    now_ms = process.clock.now_ms()
    log = open_log(history, now_ms) if history is not None and open_log is not None else None
    service = Service(process, history, tls)
    stack.callback(service.end)
    code = await _serve(roles, Ground(service, disk, store_name, log), stop, metrics_port)
    if log is not None:
        log.end(process.clock.now_ms())
    return code


async def _serve(roles: Sequence[Role], ground: Ground, stop: Stop, metrics_port: Port | None) -> int:
    started: list[Role] = []
    try:
        for role in roles:
            started.append(role)
            await role.start(ground)
        if metrics_port is not None:
            await ground.service.serve_metrics(metrics_port)
        for role in roles:
            await role.wait_ready(stop)
        _spare_collector()
        if not stop.is_asked:
            click.echo("ready " + " ".join(f"{role.name}={role.address}" for role in roles))
            tell(_LOGGER, logging.INFO, "ready", store=ground.store_name)
        await stop.wait()
        tell(_LOGGER, logging.INFO, "stopping")
    finally:
        failures = [failure for role in reversed(started) if (failure := await role.stop()) is not None]
    for failure in failures:
        tell(_LOGGER, logging.ERROR, "not a clean stop", reason=failure)
    return 2 if failures else 0


def _spare_collector() -> None:
    """What is there now is not looked through for garbage again, and what comes, less often.

    A broker makes many small records and hardly a cycle: this is a twentieth of its time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTOR)


def _open_disk(plan: Plan, stack: ExitStack) -> tuple[RealDisk, str]:
    """The store's disk and its name; a temporary one goes away with the stack."""
    root = plan.store
    try:
        if root is None:
            root = Path(
                stack.enter_context(tempfile.TemporaryDirectory(prefix="mqspec-", ignore_cleanup_errors=True))
            )
        return RealDisk(root), str(root)
    except DiskError as error:
        raise CannotRunError(
            f"cannot use {root}: {error.reason.value}{f' ({error.detail})' if error.detail else ''}"
        ) from error
    except OSError as error:
        raise CannotRunError(f"cannot make a temporary store: {error.strerror or error}") from error
