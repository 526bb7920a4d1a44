// Parts of the engine that are loaded when they are needed. In the page's build each may be a file of its own.

import { WorkerError } from '../errors';

/** A part of the engine that comes when it is needed did not come. */
export class MissingPartError extends WorkerError {
  /** Travels to the page, which has another way to the part. */
  readonly isPartMissing = true;

  constructor() {
    super(
      'A part of the engine could not be loaded. Check the connection and try again; if that does not help, reload the page.',
    );
  }
}

/**
 * The module behind `import(...)`.
 * @throws MissingPartError
 */
export async function arrived<Part>(part: Promise<Part>): Promise<Part> {
  try {
    return await part;
  } catch {
    throw new MissingPartError();
  }
}
