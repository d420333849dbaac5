"""Metrics as the text that Prometheus reads, version 0.0.4."""

from collections.abc import Iterable, Iterator

from refimpl.metric import Labels, Metric


def encode_metrics(metrics: Iterable[Metric]) -> str:
    """One block a name, in the order in which the names come first."""
    blocks: dict[str, list[Metric]] = {}
    for metric in metrics:
        blocks.setdefault(metric.name, []).append(metric)
    return "".join(line + "\n" for block in blocks.values() for line in _encode_block(block))


def _encode_block(block: list[Metric]) -> Iterator[str]:
    first = block[0]
    yield f"# HELP {first.name} {first.help.replace(chr(92), chr(92) * 2).replace(chr(10), ' ')}"
    yield f"# TYPE {first.name} {first.kind.value}"
    for metric in block:
        yield f"{metric.name}{_encode_labels(metric.labels)} {_encode_value(metric.value)}"


def _encode_labels(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escape(value)}"' for name, value in labels) + "}"


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _encode_value(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
