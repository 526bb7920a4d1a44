// What a page can know of a machine before a model runs there. WebGPU tells nobody how much memory a GPU has or how
// fast it reads it, so this is little: the kind of GPU, its name and limits, and what the browser says of the device.

import type { KvType } from '../../../shared/kv_rows';

export interface Machine {
  /** `software`: an adapter that computes on the CPU. `none`: models run on the CPU in plain loops. */
  readonly gpu: 'hardware' | 'software' | 'none';
  /** The adapter's name, as the engine has it in its info. '' without a GPU. */
  readonly name: string;
  /** Largest buffer of the GPU, which grows with its memory. 0 without a GPU. */
  readonly maxBufferBytes: number;
  readonly isMobile: boolean;
  /** The device's memory as the browser rounds it, 8 GB at most in many. Null where it does not tell. */
  readonly memoryBytes: number | null;
  /** The type of keys and values that models are loaded with here. */
  readonly kvType: KvType;
}

/** The part of `navigator` that is asked. Not all browsers have all of it. */
export interface Asked {
  readonly gpu?: Pick<GPU, 'requestAdapter'>;
  readonly deviceMemory?: number;
  readonly userAgentData?: { readonly mobile?: boolean };
  readonly userAgent?: string;
}

const PHONE = /\b(?:Android|iPhone|iPad|Mobile)\b/;
const GIB = 2 ** 30;

/** What the browser tells. Without what the reader chose. */
export type Inspected = Omit<Machine, 'kvType'>;

/** Asks the browser. Requests no device, and never throws. @param usesGpu false if the reader chose the CPU */
export async function inspectMachine(usesGpu: boolean, asked: Asked = navigator): Promise<Inspected> {
  const { deviceMemory, userAgentData, userAgent = '' } = asked;
  const about = {
    isMobile: userAgentData?.mobile ?? PHONE.test(userAgent),
    memoryBytes: typeof deviceMemory === 'number' && deviceMemory > 0 ? deviceMemory * GIB : null,
  };
  const adapter = usesGpu ? await adapterOf(asked) : null;
  if (!adapter) return { ...about, gpu: 'none', name: '', maxBufferBytes: 0 };
  const { info, limits } = adapter;
  const name = info.description || [info.vendor, info.device || info.architecture].filter(Boolean).join(' ');
  return {
    ...about,
    gpu: info.isFallbackAdapter === true ? 'software' : 'hardware',
    name: name || 'unknown adapter',
    maxBufferBytes: limits.maxBufferSize,
  };
}

async function adapterOf({ gpu }: Asked): Promise<GPUAdapter | null> {
  try {
    return (await gpu?.requestAdapter({ powerPreference: 'high-performance' })) ?? null;
  } catch {
    return null;
  }
}
