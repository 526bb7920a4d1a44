// Counts WebGPU calls, with a shim over the prototypes of Dawn's classes in Node.

import './test_device'; // makes the classes global

/** Calls that a token must not make. Encoders and passes are missing, because WebGPU cannot reuse them. */
const CREATIONS = [
  'createBuffer',
  'createBindGroup',
  'createBindGroupLayout',
  'createPipelineLayout',
  'createComputePipeline',
  'createComputePipelineAsync',
  'createShaderModule',
  'createQuerySet',
  'createTexture',
  'createSampler',
] as const;

const CALLS = {
  GPUDevice: [...CREATIONS, 'createCommandEncoder'],
  GPUQueue: ['submit', 'writeBuffer', 'onSubmittedWorkDone'],
  GPUBuffer: ['mapAsync'],
  GPUCommandEncoder: ['beginComputePass', 'copyBufferToBuffer', 'resolveQuerySet'],
  GPUComputePassEncoder: ['dispatchWorkgroups', 'dispatchWorkgroupsIndirect'],
} as const satisfies Record<string, readonly string[]>;

type Method = (...args: unknown[]) => unknown;

/** The names of the calls to all devices of this process, in order, until `stop`. */
export class CallCounter {
  calls: string[] = [];
  private readonly undo: (() => void)[] = [];

  constructor() {
    for (const [name, methods] of Object.entries(CALLS)) {
      const { prototype } = (globalThis as unknown as Record<string, { prototype: Record<string, Method> }>)[name];
      for (const method of methods) this.wrap(prototype, method);
    }
  }

  count(name: string): number {
    return this.calls.filter((call) => call === name).length;
  }

  get creations(): string[] {
    return this.calls.filter((call) => (CREATIONS as readonly string[]).includes(call));
  }

  stop(): void {
    for (const undo of this.undo) undo();
  }

  private wrap(prototype: Record<string, Method>, method: string): void {
    const original = prototype[method];
    const note = () => this.calls.push(method);
    prototype[method] = function (this: unknown, ...args) {
      note();
      return original.apply(this, args);
    };
    this.undo.push(() => {
      prototype[method] = original;
    });
  }
}
