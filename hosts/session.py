"""The parts of one connected host: they live and end together."""

from pmcl.bus import Connection
from pmcl.hosts.config import HostConfig
from pmcl.hosts.delivery import Delivery
from pmcl.hosts.kept import KeptObservations
from pmcl.hosts.lease import LeaseKeeper
from pmcl.hosts.outstanding import OutstandingVerdicts
from pmcl.hosts.unrecorded import UnrecordedResults
from pmcl.outbox import HostFile

__all__ = ["Session"]


class Session:
    """One client's connection, file, lease, deliveries and open verdicts."""

    def __init__(self, config: HostConfig, connection: Connection, file: HostFile) -> None:
        self.config = config
        self.connection = connection
        self.file = file
        self.kept = KeptObservations()
        self.unrecorded = UnrecordedResults(file)
        self.delivery = Delivery(connection, file, config, self.kept, self.unrecorded)
        self.keeper = LeaseKeeper(
            connection, config, lambda: (file.epoch, file.watermark), self.delivery.received
        )
        self.outstanding = OutstandingVerdicts(file)
        self.redaction_key = config.redaction_key
