// Folders of files: behind a URL, or dropped on the page.

import { ModelFetchError, ModelFileError } from '../../errors';
import { blobSource } from './blob_source';
import type { ModelFolder, OpenOptions } from './byte_source';
import { urlFileName, WebPageError } from './http';
import { urlSource, wholeUrlSource } from './url_source';

/** URL of a file in the folder at `url`. */
export function urlInFolder(url: URL, file: string): string {
  const fileUrl = new URL(url);
  fileUrl.pathname = url.pathname.replace(/\/*$/, '/') + encodeURIComponent(file);
  return fileUrl.href;
}

/**
 * The folder at `url`. The query, such as a signature, is kept for every file. Status 404 or 410 means a missing file.
 */
export function urlFolder(url: URL, options: OpenOptions = {}): ModelFolder {
  const path = url.pathname.replace(/\/*$/, '/');
  // huggingface.co/<owner>/<model>/resolve/<revision>/ is named after the model.
  const hubName = /\/([^/]+)\/resolve\/[^/]+\/$/.exec(path)?.[1];
  return {
    name: hubName ?? (path === '/' ? url.host : urlFileName(path)),
    inner: (name) => urlFolder(new URL(urlInFolder(url, name)), options),
    async open(file, kind = 'weights') {
      const fileUrl = urlInFolder(url, file);
      if (options.cache?.isAbsent(fileUrl)) return null;
      try {
        return await (kind === 'weights' ? urlSource(fileUrl, options) : wholeUrlSource(fileUrl, kind, options));
      } catch (error) {
        const status = error instanceof ModelFetchError ? error.status : null;
        const isAbsent = status === 404 || status === 410;
        // Other failures count as absence for optional files: if the model opens without the file, it is not part of
        // the model.
        if (isAbsent || status === 403 || error instanceof WebPageError) options.cache?.noteAbsent(fileUrl);
        if (isAbsent) return null;
        throw error;
      }
    },
  };
}

/**
 * Dropped files as a folder, by base name. Of two equal names the less deep file counts, since repositories repeat
 * config.json in subfolders. `open` throws ModelFileError for two files at equal depth.
 */
export function filesFolder(files: readonly File[], options: OpenOptions = {}): ModelFolder {
  const shallowest = new Map<string, { file: File; depth: number; repeated: boolean }>();
  for (const file of files) {
    const depth = file.webkitRelativePath ? file.webkitRelativePath.split('/').length : 1;
    const known = shallowest.get(file.name);
    if (known && known.depth === depth) known.repeated = true;
    if (!known || depth < known.depth) shallowest.set(file.name, { file, depth, repeated: false });
  }
  return {
    name: files[0]?.webkitRelativePath?.split('/')[0] || 'dropped files',
    inner: (name) =>
      filesFolder(
        files.filter((file) => (file.webkitRelativePath || '').split('/').at(-2) === name),
        options,
      ),
    async open(path) {
      const found = shallowest.get(path);
      if (!found) return null;
      if (found.repeated)
        throw new ModelFileError(path, 'was dropped more than once. Drop the files of one model only.');
      return blobSource(path, found.file, options);
    },
  };
}
