import pytest

from model_tests.spec.history.strategy import well_formed_event, without
from spec.history.event import COLUMNS, ColumnType, Event
from spec.history.kind import FORMS, Kind
from spec.history.well_formed import MAY_BE_EMPTY, check_event, checked
from spec.rejection import Rejection

BEGIN = Event("run", 0, 0, "recorder", Kind.BEGIN, detail="{}")


def test_every_kind_has_a_form_with_known_columns() -> None:
    assert set(FORMS) == set(Kind)
    assert {column for form in FORMS.values() for column in form.columns} <= set(COLUMNS)
    assert all(("status" in form.columns) == bool(form.statuses) for form in FORMS.values())


def test_columns_have_the_types_of_the_event() -> None:
    assert COLUMNS["sequence"] is ColumnType.INTEGER
    assert COLUMNS["broker"] is ColumnType.TEXT
    assert COLUMNS["queue"] is ColumnType.INTEGER
    assert COLUMNS["members"] is ColumnType.TEXTS
    assert COLUMNS["offsets"] is ColumnType.INTEGERS


@pytest.mark.clause("history.event.required-columns")
@pytest.mark.parametrize("kind", list(Kind))
def test_event_needs_each_column_of_its_kind(kind: Kind) -> None:
    event = well_formed_event(kind)
    check_event(event)
    for column in set(FORMS[kind].columns) - MAY_BE_EMPTY:
        with pytest.raises(Rejection) as refused:
            check_event(without(event, column))
        assert refused.value.clause == "history.event.required-columns"
        assert refused.value.reason == f"event {kind} needs the column {column}"


@pytest.mark.clause("history.event.known-status")
def test_status_is_a_word_of_its_kind() -> None:
    with pytest.raises(Rejection) as refused:
        check_event(well_formed_event(Kind.DOWN)._replace(status="gone"))
    assert refused.value.reason == "the status of event down is one of graceful, crash, not 'gone'"


@pytest.mark.clause("history.event.known-status")
def test_mode_is_a_word_of_its_kind() -> None:
    with pytest.raises(Rejection) as refused:
        check_event(well_formed_event(Kind.OWN)._replace(mode="orderly"))
    assert (
        refused.value.reason
        == "the mode of event own is one of concurrent, ordered, broadcast, not 'orderly'"
    )


@pytest.mark.clause("history.event.queue-names")
@pytest.mark.parametrize("name", ["b", "b:", ":0", "b:-1", "b:x"])
def test_queue_is_listed_by_broker_and_number(name: str) -> None:
    view = well_formed_event(Kind.VIEW)
    for event in (view._replace(queues=(name,)), view._replace(assigned=(name,))):
        with pytest.raises(Rejection) as refused:
            check_event(event)
        assert refused.value.clause == "history.event.queue-names"
        assert refused.value.reason == f"a queue is listed as broker:number, not as {name!r}"


@pytest.mark.clause("history.order.sequence-rises")
def test_sequence_rises_within_a_run_and_not_across_runs() -> None:
    other = [BEGIN._replace(run="other"), well_formed_event(Kind.END_OF_RUN, 3)._replace(run="other")]
    events = [BEGIN, well_formed_event(Kind.END_OF_RUN, 5), *other]
    assert list(checked(events)) == events
    with pytest.raises(Rejection) as refused:
        list(checked([*events, well_formed_event(Kind.END_OF_RUN, 5)]))
    assert refused.value.reason == "sequence 5 follows 5 in run 'run'"


@pytest.mark.clause("history.run.begins-once")
@pytest.mark.parametrize(
    "events", [[well_formed_event(Kind.END_OF_RUN)], [BEGIN, BEGIN._replace(sequence=1)]], ids=["none", "two"]
)
def test_run_opens_with_its_only_begin(events: list[Event]) -> None:
    with pytest.raises(Rejection) as refused:
        list(checked(events))
    assert refused.value.clause == "history.run.begins-once"
