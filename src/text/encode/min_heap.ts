/** A binary heap of numbers in one typed array. An empty heap pops -1. */
export class MinHeap {
  private readonly keys: Float64Array;
  private size = 0;

  constructor(capacity: number) {
    this.keys = new Float64Array(capacity);
  }

  push(key: number): void {
    let i = this.size++;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (this.keys[parent] <= key) break;
      this.keys[i] = this.keys[parent];
      i = parent;
    }
    this.keys[i] = key;
  }

  pop(): number {
    if (this.size === 0) return -1;
    const top = this.keys[0];
    const last = this.keys[--this.size];
    let i = 0;
    for (let child = 1; child < this.size; child = 2 * i + 1) {
      if (child + 1 < this.size && this.keys[child + 1] < this.keys[child]) child++;
      if (this.keys[child] >= last) break;
      this.keys[i] = this.keys[child];
      i = child;
    }
    this.keys[i] = last;
    return top;
  }
}
