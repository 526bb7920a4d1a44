// Starts headless Chromium with WebGPU, on the GPU or on SwiftShader, and says which flags that takes.

import { existsSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { chromium } from 'playwright-core';
import { ensureChromium } from '../ensure.mjs';

/**
 * VIVACE_SWIFTSHADER=1 asks for the software adapter, 0 for hardware. Unset: software where Linux shows no GPU;
 * a browser named by CHROME_PATH chooses for itself.
 */
function wantsSwiftShader(env: NodeJS.ProcessEnv) {
  if (env.VIVACE_SWIFTSHADER) return env.VIVACE_SWIFTSHADER !== '0';
  if (env.CHROME_PATH || process.platform !== 'linux') return false;
  return !['/dev/dri', '/dev/nvidiactl', '/dev/dxg'].some((device) => existsSync(device));
}

/** What Playwright disables. A list of ours takes the place of its list, because the last one counts. */
const DISABLED_BY_PLAYWRIGHT = [
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'TcpPortRandomizationWin',
  'ThirdPartyStoragePartitioning',
];
/** Pages in the popups of the address bar: each context loads two of them, which takes 0.8 s of CPU time. */
const POPUPS = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup'];

export function chromiumFlags(env: NodeJS.ProcessEnv, webgpu: boolean) {
  const disabled = `--disable-features=${[...DISABLED_BY_PLAYWRIGHT, ...POPUPS]}`;
  const flags = ['--no-first-run', '--disable-background-networking', disabled];
  if (process.getuid?.() === 0) flags.push('--no-sandbox'); // Chromium refuses to start as root with one
  if (!webgpu) return flags;
  if (wantsSwiftShader(env)) {
    // SwiftShader spends seconds a kernel on clearing workgroup memory, which no kernel of ours relies on.
    const unsafe = ['--enable-unsafe-webgpu', '--enable-dawn-features=disable_workgroup_init'];
    return [...flags, ...unsafe, '--use-webgpu-adapter=swiftshader'];
  }
  if (env.CHROME_PATH) return flags; // such a program brings the flags of its own GPU
  if (process.platform === 'linux') {
    flags.push('--enable-unsafe-webgpu', '--enable-features=Vulkan', '--ignore-gpu-blocklist');
  }
  return flags;
}

/** @param options webgpu: false starts a browser that has none */
export function launchChromium({ webgpu = true }: { webgpu?: boolean } = {}): Promise<Browser> {
  return chromium.launch({
    executablePath: ensureChromium(),
    headless: true,
    args: chromiumFlags(process.env, webgpu),
    handleSIGINT: false, // the caller ends a run in order
  });
}
