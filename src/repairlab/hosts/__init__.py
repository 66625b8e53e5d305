"""Model hosts: the client, residency, and a server that speaks LM Studio's protocol."""
