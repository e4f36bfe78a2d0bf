"""The ClientApp: trains by adding one, and reports an accuracy."""

from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

app = ClientApp()


@app.train()
def train(message: Message, context: Context) -> Message:
    (array,) = message.content["arrays"].to_numpy_ndarrays()
    content = RecordDict({"arrays": ArrayRecord([array + 1]), "metrics": MetricRecord({"num-examples": 1})})
    return Message(content=content, reply_to=message)


@app.evaluate()
def evaluate(message: Message, context: Context) -> Message:
    content = RecordDict({"metrics": MetricRecord({"num-examples": 1, "accuracy": 0.5})})
    return Message(content=content, reply_to=message)
