"""An APPFL client over gRPC, with the loop of APPFL's examples/grpc: python client.py client.yaml [KEY=VALUE ...]

Its variables live as long as theirs, because they hold models: `init_global_model` until the end, `local_model` and
`new_global_model` until the next round replaces them.
"""

import sys

import torch
from appfl.agent import ClientAgent
from appfl.comm.grpc import GRPCClientCommunicator

from configuration import load_configuration


def main() -> None:
    config = load_configuration(sys.argv[1], sys.argv[2:])
    torch.manual_seed(config.seed)  # the order of the samples
    agent = ClientAgent(client_agent_config=config)
    communicator = GRPCClientCommunicator(agent.get_id(), logger=agent.logger, **config.comm_configs.grpc_configs)
    agent.load_config(communicator.get_configuration())
    init_global_model = communicator.get_global_model(init_model=True)
    agent.load_parameters(init_global_model)
    communicator.invoke_custom_action(action="set_sample_size", sample_size=agent.get_sample_size())

    number = 0
    metadata = {"status": "RUNNING"}
    while metadata["status"] != "DONE":
        number += 1
        print("Round", number)
        agent.train()
        local_model, results = agent.get_parameters()
        new_global_model, metadata = communicator.update_global_model(local_model, **results)
        agent.load_parameters(new_global_model)
    agent.save_checkpoint(config.final_model)
    communicator.invoke_custom_action(action="close_connection")


if __name__ == "__main__":
    main()
