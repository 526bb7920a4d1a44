// The gpu room: devices, kernels and buffers, with every call that costs something counted.
// It knows nothing of models, tokens or attention.

/** The limits that kernels and buffers are planned by. Asked for at the adapter's values, planned by what was granted. */
export const WANTED_LIMITS = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxStorageBuffersPerShaderStage',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxImmediateSize',
] as const satisfies readonly (keyof GPUSupportedLimits | 'maxImmediateSize')[];

/** Bytes of the Step struct that every kernel sees; immediates are used where the device grants at least this. */
export const STEP_BYTES = 8;

/** What kernels may rely on, on this device. Each is a faster path beside a plain one. */
export interface GpuCapabilities {
  /** Smallest subgroup the device may use, or 0 when subgroups are absent. */
  subgroupMinSize: number;
  /** `var<immediate>`: progress travels in the command instead of a uniform buffer. */
  immediates: boolean;
  /** The GPU's clock at the ends of a pass. */
  timestamps: boolean;
}

export type CapabilityName = 'subgroups' | 'immediates' | 'timestamps';

type Limits = Record<string, number | undefined>;

export function wantedLimits(granted: GPUSupportedLimits): Record<string, number> {
  const limits = granted as unknown as Limits;
  const wanted: Record<string, number> = {};
  for (const name of WANTED_LIMITS) {
    const value = limits[name];
    if (value !== undefined) wanted[name] = value;
  }
  return wanted;
}

/** What adapter and browser offer, less what the caller turns off (tests run every kernel with and without). */
export function capabilities(
  adapter: GPUAdapter,
  languageFeatures: WGSLLanguageFeatures,
  without: readonly CapabilityName[],
): GpuCapabilities {
  const has = (name: CapabilityName, there: boolean) => there && !without.includes(name);
  const immediateBytes = (adapter.limits as unknown as Limits).maxImmediateSize ?? 0;
  return {
    subgroupMinSize: has('subgroups', adapter.features.has('subgroups')) ? (adapter.info.subgroupMinSize ?? 4) : 0,
    timestamps: has('timestamps', adapter.features.has('timestamp-query')),
    immediates: has('immediates', languageFeatures.has('immediate_address_space') && immediateBytes >= STEP_BYTES),
  };
}
