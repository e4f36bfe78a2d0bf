"""The ClientApp: trains by adding the number of its partition."""

import numpy as np
from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

app = ClientApp()


@app.train()
def train(message: Message, context: Context) -> Message:
    (array,) = message.content["arrays"].to_numpy_ndarrays()
    array += np.float32(context.node_config["partition-id"])
    content = RecordDict({"arrays": ArrayRecord([array]), "metrics": MetricRecord({"num-examples": 1})})
    return Message(content=content, reply_to=message)
