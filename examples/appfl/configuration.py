"""A YAML file of APPFL with some keys changed."""

from omegaconf import DictConfig, OmegaConf


def load_configuration(path: str, overrides: list[str]) -> DictConfig:
    config = OmegaConf.merge(OmegaConf.load(path), OmegaConf.from_dotlist(overrides))
    # APPFL hands parts of a configuration on, where a reference such as ${optimize_memory} would have no root.
    OmegaConf.resolve(config)
    return config
