// The window. Pages of `file:` may not fetch files, so the app's files have a scheme of their own.

import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { app, BrowserWindow, net, protocol } from 'electron';

const privileges = { standard: true, secure: true, supportFetchAPI: true, stream: true };
protocol.registerSchemesAsPrivileged([{ scheme: 'app', privileges }]);
if (process.platform === 'linux') {
  app.commandLine.appendSwitch('enable-unsafe-webgpu'); // Chromium has WebGPU behind this switch there
  app.commandLine.appendSwitch('enable-features', 'Vulkan');
}

await app.whenReady();
protocol.handle('app', ({ url }) => {
  const file = path.join(import.meta.dirname, decodeURIComponent(new URL(url).pathname));
  return net.fetch(pathToFileURL(file).href);
});
app.on('window-all-closed', () => app.quit());
await new BrowserWindow({ width: 480, height: 720 }).loadURL('app://vivace/index.html');
