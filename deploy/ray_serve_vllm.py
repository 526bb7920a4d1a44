"""vLLM on Ray Serve: one model, several replicas that come and go with the load, behind OpenAI's interface.

    pip install "ray[llm]==2.58.0"
    serve run ray_serve_vllm:app        # in this folder; http://localhost:8000/v1

Written after the documentation of Ray 2.58, whose builder takes it. It has not been run: no GPU server was at hand.
"""

from ray.serve.llm import LLMConfig, build_openai_app

# The model: its name in requests, where its weights come from, and how it writes thinking and calls.
MODEL_ID = "qwen3-8b"
MODEL_SOURCE = "Qwen/Qwen3-8B"
REASONING_PARSER = "qwen3"  # None for a model that does not think
TOOL_CALL_PARSER = "hermes"  # None for a model without tools

# The GPUs of one replica. Ray leaves the choice to any GPU where the type is None.
ACCELERATOR_TYPE = None  # "L4", "A10G", "H100"
GPUS_PER_REPLICA = 1

# The context of a conversation, and how many answers a replica writes at once. More answers at once mean more tokens
# per second in all, and a longer wait between the tokens of each.
MAX_MODEL_LEN = 16384
MAX_NUM_SEQS = 32

# Replicas. One more starts when each has more than this many running requests; one less runs after quiet minutes.
MIN_REPLICAS = 2
MAX_REPLICAS = 8
TARGET_REQUESTS = 16

# True: a conversation goes to the replica that holds its beginning in its cache (alpha in Ray 2.58). False: to the one
# of two that has less to do.
FOLLOW_CACHE = True


def engine_kwargs() -> dict:
    """Arguments of vLLM."""
    kwargs = {
        "max_model_len": MAX_MODEL_LEN,
        "max_num_seqs": MAX_NUM_SEQS,
        "tensor_parallel_size": GPUS_PER_REPLICA,
        "gpu_memory_utilization": 0.9,
        "enable_prefix_caching": True,
    }
    if REASONING_PARSER:
        kwargs["reasoning_parser"] = REASONING_PARSER
    if TOOL_CALL_PARSER:
        kwargs |= {"enable_auto_tool_choice": True, "tool_call_parser": TOOL_CALL_PARSER}
    return kwargs


def deployment_config() -> dict:
    """Arguments of Ray Serve."""
    config = {
        "max_ongoing_requests": 2 * MAX_NUM_SEQS,  # the rest waits at the proxy for another replica
        "autoscaling_config": {
            "min_replicas": MIN_REPLICAS,
            "max_replicas": MAX_REPLICAS,
            "target_ongoing_requests": TARGET_REQUESTS,
            "upscale_delay_s": 15,
            "downscale_delay_s": 600,  # a replica takes minutes to load
        },
    }
    if FOLLOW_CACHE:
        router = "ray.serve.llm.request_router.PrefixCacheAffinityRouter"
        config["request_router_config"] = {"request_router_class": router}
    return config


app = build_openai_app(
    {
        "llm_configs": [
            LLMConfig(
                model_loading_config={"model_id": MODEL_ID, "model_source": MODEL_SOURCE},
                accelerator_type=ACCELERATOR_TYPE,
                engine_kwargs=engine_kwargs(),
                deployment_config=deployment_config(),
            )
        ]
    }
)
