"""The bodies of requests and answers that are not messages: typed records and their JSON."""
