"""The command line's connections: over TLS and with a key or token, where the settings say so."""

from radrag.access import channels
from radrag.access.channels import channel_credentials
from radrag.client import AsyncClient
from radrag.settings import Settings


def gateway(settings: Settings, seconds: float, address: str = "") -> AsyncClient:
    """A client of the gateway, at another address when given. Raises SettingError."""
    address = address or settings.gateway_address
    channels.show_credential(settings, address)
    tls = channels.channel_files(settings)
    return AsyncClient(address, seconds, channel_credentials(tls) if tls else None)
