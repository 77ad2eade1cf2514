"""Queues, batches and GPUs of the model servers."""

from deploy.observability.panels import Board, Panel, Query
from deploy.observability.promql import NO_GPU, NOTHING_WRONG, rate, ratio

BOARD = Board(
    "model-servers",
    "model servers",
    "Triton's own counters per model. Its request duration is wrong for generators that write from threads: "
    "their times are on the answer path's board, measured by the caller.",
    [
        (
            "Queue and batches",
            [
                Panel(
                    "Requests waiting",
                    [Query("sum by (model) (nv_inference_pending_request_count)", "{{model}}")],
                ),
                Panel(
                    "Time in the queue, mean",
                    [
                        Query(
                            f"{rate('nv_inference_queue_duration_us', 'model')}"
                            f" / {rate('nv_inference_request_success', 'model')} / 1e6",
                            "{{model}}",
                        )
                    ],
                    "s",
                ),
                Panel(
                    "Rows per execution",
                    [
                        Query(
                            ratio(
                                rate("nv_inference_count", "model"), rate("nv_inference_exec_count", "model")
                            ),
                            "{{model}}",
                        )
                    ],
                    description="1: the batcher finds nobody to put together.",
                ),
                Panel(
                    "Refused by a full queue",
                    [Query(rate("radrag_rejected_total", "job", reason="model_queue"), "{{job}}")],
                    "ops",
                    silent=NOTHING_WRONG,
                    description="Counted by the callers: Triton's failure counter misses these.",
                ),
                Panel(
                    "Failed requests",
                    [
                        Query(
                            f"{rate('nv_inference_request_failure', 'model, reason')} > 0",
                            "{{model}} {{reason}}",
                        )
                    ],
                    "ops",
                    silent=NOTHING_WRONG,
                ),
                Panel(
                    "Share per replica",
                    [
                        Query(
                            f"{rate('nv_inference_count', 'model, instance')}"
                            f" / on (model) group_left () {rate('nv_inference_count', 'model')}",
                            "{{model}} {{instance}}",
                        )
                    ],
                    "percentunit",
                    description="Of one model's requests. Uneven: clients hold on to one connection.",
                ),
            ],
        ),
        (
            "Compute",
            [
                Panel(
                    "Compute per execution, mean",
                    [
                        Query(
                            f"{rate('nv_inference_compute_infer_duration_us', 'model')}"
                            f" / {rate('nv_inference_exec_count', 'model')} / 1e6",
                            "{{model}}",
                        )
                    ],
                    "s",
                ),
                Panel(
                    "GPU in use",
                    [Query("avg by (gpu_uuid) (nv_gpu_utilization)", "{{gpu_uuid}}")],
                    "percentunit",
                    silent=NO_GPU,
                ),
                Panel(
                    "GPU memory in use",
                    [
                        Query(
                            ratio(
                                "sum by (gpu_uuid) (nv_gpu_memory_used_bytes)",
                                "sum by (gpu_uuid) (nv_gpu_memory_total_bytes)",
                            ),
                            "{{gpu_uuid}}",
                        )
                    ],
                    "percentunit",
                    silent=NO_GPU,
                ),
                Panel(
                    "GPU power",
                    [Query("avg by (gpu_uuid) (nv_gpu_power_usage)", "{{gpu_uuid}}")],
                    "watt",
                    silent=NO_GPU,
                ),
                Panel("Tokens written", [Query(rate("radrag_generated_tokens_total"), "tokens")], "ops"),
                Panel(
                    "Texts cut to fit",
                    [Query(rate("radrag_truncations_total", "model"), "{{model}}")],
                    "ops",
                    silent=NOTHING_WRONG,
                ),
            ],
        ),
    ],
)
