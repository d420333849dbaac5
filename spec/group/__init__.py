"""What a consumer group decides: allocation, rebalance, start position, process queue, flow control."""
