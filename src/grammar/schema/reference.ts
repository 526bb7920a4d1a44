// `$ref` inside a schema: JSON pointers from its root.

import { ConstraintError } from '../../errors';
import { isJsonObject } from '../../shared/json_object';
import { why } from '../../shared/why';
import { shown } from '../shown';

/** The target of a reference, and its pointer in one spelling. */
export function resolve(root: unknown, reference: unknown, path: string): { path: string; schema: unknown } {
  const parts = typeof reference === 'string' ? partsOf(reference) : null;
  let schema = root;
  for (const part of parts ?? []) {
    if (Array.isArray(schema)) schema = /^(0|[1-9][0-9]{0,5})$/.test(part) ? schema[Number(part)] : undefined;
    else schema = isJsonObject(schema) && Object.hasOwn(schema, part) ? schema[part] : undefined;
  }
  if (parts === null || schema === undefined) {
    throw new ConstraintError(
      path,
      why`The $ref of the schema's ${shown(path)} names nothing in this schema. Use a pointer such as "#/$defs/name".`,
      '$ref',
    );
  }
  return { path: ['#', ...parts.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'))].join('/'), schema };
}

/** The keys of a pointer. Null for another kind of reference. */
function partsOf(reference: string): string[] | null {
  if (reference === '#') return [];
  if (!reference.startsWith('#/')) return null;
  try {
    const parts = decodeURIComponent(reference.slice(2)).split('/');
    return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  } catch {
    return null; // a broken escape
  }
}
