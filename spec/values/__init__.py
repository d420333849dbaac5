"""The words of the domain: queues, messages, subscriptions, names, and integers with units."""
