"""A client that does not train: it adds a constant of its own, so that all memory is the framework's."""

import nvflare.client as flare
from nvflare.app_common.np.constants import NPConstants


def main() -> None:
    flare.init()
    # The average of site-1 and site-2 is exact in float32, so every trial ends with the same bytes.
    increment = float(flare.get_site_name().removeprefix("site-"))
    while flare.is_running():
        model = flare.receive()
        print(f"current_round={model.current_round}")
        weights = model.params[NPConstants.NUMPY_KEY]
        flare.send(flare.FLModel(params={NPConstants.NUMPY_KEY: weights + increment}))


if __name__ == "__main__":
    main()
