// Folders of files behind a URL.

import { ModelFetchError } from '../../errors';
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
