"""One of several processes that train together; started by `test_together.py`."""

import json
import sys
from pathlib import Path

import torch.distributed as dist

from tawt.errors import TrainingError
from tests.integrations.transformers import tiny


def trained(folder, size, accumulated, steps, resume, measure):
    trainer = tiny.trainer(
        folder,
        measure=measure,
        settings={
            "per_device_train_batch_size": size,
            "gradient_accumulation_steps": accumulated,
            "max_steps": steps,
            "save_strategy": "steps",
            "save_steps": 4,
        },
        update_batch_size=2 * size,
    )
    trainer.train(resume_from_checkpoint=resume)
    return {
        "rank": trainer.args.process_index,
        "processes": trainer.args.world_size,
        "model": type(trainer.model_wrapped).__name__,
        "state": trainer.weights.state_dict(),
        "log": [entry for entry in trainer.state.log_history if "train_runtime" not in entry],
        "parameters": [p.detach().flatten().tolist() for p in trainer.model.parameters()],
    }


def main(folder, *settings):
    found = trained(folder, *settings, "fresh batches")
    if settings[-1] is None:
        found["by steps"] = trained(f"{folder}/by steps", *settings, "training steps")
    if dist.is_initialized():
        try:
            tiny.trainer(folder, update_every=1 + dist.get_rank()).train()
        except TrainingError as error:
            found["refused"] = str(error)
    Path(folder, f"{found['rank']}.json").write_text(json.dumps(found))
    if dist.is_initialized():
        dist.barrier()
        dist.destroy_process_group()


if __name__ == "__main__":
    where, size, accumulated, steps, *resume = sys.argv[1:]
    main(where, int(size), int(accumulated), int(steps), resume[0] if resume else None)
