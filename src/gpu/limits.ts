// The limits and capabilities of an adapter that kernels and buffers are planned by.

/** Limits that a device is requested with, at the adapter's values. Plans use the values that were granted. */
export const WANTED_LIMITS = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxStorageBuffersPerShaderStage',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxImmediateSize',
] as const satisfies readonly (keyof GPUSupportedLimits | 'maxImmediateSize')[];

/** Bytes of the Step struct of every kernel. Immediates need a device that grants at least as many. */
export const STEP_BYTES = 8;

/** Features of this device for which kernels have a faster path beside the plain one. */
export interface GpuCapabilities {
  /** Size of the smallest subgroup that the device may use, or 0 without subgroups. */
  subgroupMinSize: number;
  /** `var<immediate>`: the step travels in the command instead of a uniform buffer. */
  immediates: boolean;
  /** The GPU's clock at both ends of a pass. */
  timestamps: boolean;
  /** Subgroups multiply matrices of signed bytes, 16 x 32 by 32 x 16. Browsers grant it behind a flag. */
  matrices: boolean;
}

/** The feature that `matrices` needs. */
export const MATRIX_FEATURE = 'chromium-experimental-subgroup-matrix';

export type CapabilityName = 'subgroups' | 'immediates' | 'timestamps' | 'matrices';

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

/** The capabilities of adapter and browser, except `without`: tests run every kernel with and without each. */
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
    matrices: has('matrices', !without.includes('subgroups') && multipliesBytes(adapter)),
    immediates: has('immediates', languageFeatures.has('immediate_address_space') && immediateBytes >= STEP_BYTES),
  };
}

/** A shader counts its threads by the size of their subgroups, which has to be known. */
function multipliesBytes({ features, info }: GPUAdapter): boolean {
  const { subgroupMinSize: least, subgroupMaxSize: most } = info;
  const { subgroupMatrixConfigs: configs = [] } = info as { subgroupMatrixConfigs?: Iterable<MatrixConfig> };
  const multiplies = [...configs].some(
    ({ componentType, M, N, K }) => `${componentType} ${M} ${N} ${K}` === 'i8 16 16 32',
  );
  return features.has(MATRIX_FEATURE) && least === 32 && most === 32 && multiplies;
}

/** A product of matrices, (M, K) by (K, N), that the adapter lists in its info. */
type MatrixConfig = Record<'M' | 'N' | 'K', number> & { componentType: string };
