"""An APPFL server over gRPC, as in APPFL's examples/grpc: python server.py server.yaml [KEY=VALUE ...]"""

import sys

from appfl.agent import ServerAgent
from appfl.comm.grpc import GRPCServerCommunicator, serve

from configuration import load_configuration


def main() -> None:
    config = load_configuration(sys.argv[1], sys.argv[2:])
    agent = ServerAgent(server_agent_config=config)
    options = config.server_configs.comm_configs.grpc_configs
    serve(GRPCServerCommunicator(agent, logger=agent.logger, **options), **options)


if __name__ == "__main__":
    main()
