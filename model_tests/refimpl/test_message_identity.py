from refimpl.message_identity import Identity, derive_identity


def test_a_message_is_named_by_its_unique_key_or_by_its_first_place() -> None:
    assert derive_identity({"UNIQ_KEY": "U"}, 0, "AB") == Identity("U")
    assert derive_identity({}, 0, "AB") == Identity("AB")


def test_a_copy_has_a_name_of_its_own_and_names_the_first() -> None:
    properties = {"UNIQ_KEY": "U", "ORIGIN_MESSAGE_ID": "AB"}
    assert derive_identity(properties, 2, "CD") == Identity("U#2", "U")
    assert derive_identity({"ORIGIN_MESSAGE_ID": "AB"}, 2, "CD") == Identity("AB#2", "AB")


def test_the_names_of_a_message_and_of_its_copy_agree_without_a_unique_key() -> None:
    first = derive_identity({}, 0, "AB")
    copy = derive_identity({"ORIGIN_MESSAGE_ID": "AB"}, 1, "CD")
    assert copy.origin == first.message
