"""What every RadRAG process stands on: the typed stubs, errors, settings, serving, telemetry and clients."""
