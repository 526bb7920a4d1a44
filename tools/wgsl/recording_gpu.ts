// A GPU that compiles nothing and keeps every source it is given: the wgsl command needs no adapter.

import { Gpu } from '../../src/gpu/device';
import { assumeRounding } from '../../src/kernels/linear/rounding';

/** The code of a kernel and the entry points that it is compiled for. */
export interface RecordedShader {
  label: string;
  code: string;
}

export interface RecordingOptions {
  /** Smallest subgroup; 0: no subgroups. */
  subgroupSize: number;
  immediates: boolean;
  limits?: Partial<Record<string, number>>;
}

/** Limits of a large desktop GPU. */
const LIMITS = {
  maxBufferSize: 2 ** 32,
  maxStorageBufferBindingSize: 2 ** 31 - 4,
  maxStorageBuffersPerShaderStage: 10,
  maxComputeWorkgroupStorageSize: 32768,
  maxComputeInvocationsPerWorkgroup: 1024,
  maxComputeWorkgroupSizeX: 1024,
};

/** A Gpu whose shaders land in `shaders`, each source once. */
export async function recordingGpu(options: RecordingOptions): Promise<{ gpu: Gpu; shaders: RecordedShader[] }> {
  const { subgroupSize, immediates } = options;
  const shaders: RecordedShader[] = [];
  const limits = { ...LIMITS, ...options.limits, ...(immediates ? { maxImmediateSize: 64 } : {}) };
  const device = recordingDevice(limits, (shader) => {
    if (!shaders.some(({ code }) => code === shader.code)) shaders.push(shader);
  });
  const adapter = {
    features: new Set(subgroupSize > 0 ? ['subgroups'] : []),
    limits,
    info: { subgroupMinSize: subgroupSize, description: 'recording' },
    requestDevice: async () => device,
  };
  const wgslLanguageFeatures = new Set(immediates ? ['immediate_address_space'] : []);
  const gpu = { requestAdapter: async () => adapter, wgslLanguageFeatures } as unknown as GPU;
  const recording = await Gpu.request({ gpu });
  assumeRounding(recording, true);
  return { gpu: recording, shaders };
}

function recordingDevice(limits: object, keep: (shader: RecordedShader) => void): object {
  return {
    limits,
    lost: new Promise(() => {}),
    queue: { writeBuffer: () => {} },
    addEventListener: () => {},
    pushErrorScope: () => {},
    popErrorScope: async () => null,
    createBuffer: ({ size }: GPUBufferDescriptor) => ({ size, destroy: () => {} }),
    createBindGroupLayout: () => ({}),
    createBindGroup: () => ({}),
    createPipelineLayout: () => ({}),
    createShaderModule: ({ label = '', code }: GPUShaderModuleDescriptor) => keep({ label, code }),
    createComputePipelineAsync: async () => ({}),
  };
}
