// What `vivace/elements` is under Node, which has no elements: a page that is rendered there first may import it.

/** Stands for the element's class, so that an import of its name links. */
export class VivaceChat {}

/** The same for the panel. */
export class VivaceMetrics {}
