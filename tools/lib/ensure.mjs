// First-run set-up for everything that a terminal starts: Node's version, the npm packages, Chromium.
// It imports only what Node brings, because it runs before any package is there. What it says goes to stderr.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

const NODE_OLDEST = [20, 19];
const SETUP_FAILED = 1;

/**
 * @typedef {{ version?: string, integrity?: string, optional?: boolean }} LockedPackage
 * @typedef {{ packages?: Record<string, LockedPackage> }} Lockfile
 */

/** Set-up cannot go on: one line for the person, no stack. @param {string} line @returns {never} */
function give(line) {
  console.error(line);
  process.exit(SETUP_FAILED);
}

/** @param {string} [version] such as '20.19.0' */
function ensureNode(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = NODE_OLDEST;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  give(`Vivace needs Node ${NODE_OLDEST.join('.')} or newer; this is ${version}. Get it from https://nodejs.org/`);
}

/** @param {string} file @returns {Lockfile | null} */
function readLockfile(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

/**
 * Whether what is installed is what is locked. Packages of other platforms are optional and may be missing.
 * @param {Lockfile | null} locked package-lock.json
 * @param {Lockfile | null} installed node_modules/.package-lock.json
 */
export function inStep(locked, installed) {
  if (!locked?.packages || !installed?.packages) return false;
  for (const [name, found] of Object.entries(installed.packages)) {
    const wanted = locked.packages[name];
    if (!wanted || wanted.version !== found.version || wanted.integrity !== found.integrity) return false;
  }
  return Object.entries(locked.packages).every(
    ([name, wanted]) => name === '' || wanted.optional || installed.packages?.[name],
  );
}

export function ensurePackages() {
  ensureNode();
  const locked = readLockfile(path.join(ROOT, 'package-lock.json'));
  if (inStep(locked, readLockfile(path.join(ROOT, 'node_modules/.package-lock.json')))) return;
  console.error('Installing the npm packages (npm ci) ...');
  const flags = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = process.env.npm_execpath;
  /** @type {import('node:child_process').SpawnSyncOptions} */
  const options = { cwd: ROOT, stdio: ['ignore', 2, 2] };
  const { status } = npm?.endsWith('npm-cli.js')
    ? spawnSync(process.execPath, [npm, ...flags], options)
    : spawnSync('npm', flags, { ...options, shell: process.platform === 'win32' });
  if (status !== 0) give('npm ci failed: see above. Once that is mended, run the same command again.');
}

/** The usual places of browsers with WebGPU. @param {NodeJS.Platform} platform */
function usualPlaces(platform) {
  if (platform === 'darwin') {
    const apps = ['Google Chrome', 'Chromium', 'Microsoft Edge'];
    return apps.map((app) => `/Applications/${app}.app/Contents/MacOS/${app}`);
  }
  if (platform === 'win32') {
    const roots = [process.env.PROGRAMFILES, process.env['PROGRAMFILES(X86)'], process.env.LOCALAPPDATA];
    const programs = ['Google\\Chrome\\Application\\chrome.exe', 'Microsoft\\Edge\\Application\\msedge.exe'];
    return roots.flatMap((root) => (root ? programs.map((program) => path.join(root, program)) : []));
  }
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge'];
  return names.flatMap((name) => [`/usr/bin/${name}`, `/usr/local/bin/${name}`]);
}

/** @returns {string | null} */
function findChromium() {
  const forced = process.env.CHROME_PATH;
  if (forced) {
    if (!existsSync(forced)) give(`CHROME_PATH is ${forced}, but there is no such file.`);
    return forced;
  }
  return usualPlaces(process.platform).find((file) => existsSync(file)) ?? null;
}

/** The apt package that holds a browser, or null where apt-get cannot install one. */
function aptPackage() {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return null;
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
  if (/^ID=ubuntu/m.test(release)) return 'chromium-browser';
  return /^ID(_LIKE)?=.*debian/m.test(release) ? 'chromium' : null;
}

/** @returns {string} the path of a Chromium, installed now if need be */
export function ensureChromium() {
  const found = findChromium();
  if (found) return found;
  const wanted = aptPackage();
  if (wanted) {
    console.error(`Installing Chromium (apt-get install ${wanted}) ...`);
    /** @type {import('node:child_process').SpawnSyncOptions} */
    const options = { stdio: ['ignore', 'ignore', 2], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
    spawnSync('apt-get', ['update', '-qq'], options);
    spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', wanted], options);
    const installed = findChromium();
    if (installed) return installed;
  }
  return give(
    'Chromium is needed here and was not found: install Chromium or Google Chrome, or set CHROME_PATH to its program.',
  );
}

/**
 * What Dawn for Node needs to run kernels without a GPU: the software Vulkan driver and loader that come with Chromium.
 * Empty where they are not, or where the environment names a driver already.
 * @returns {Record<string, string>}
 */
export function softwareVulkan() {
  const folder = '/usr/lib/chromium';
  const driver = path.join(folder, 'vk_swiftshader_icd.json');
  if (process.env.VK_ICD_FILENAMES || process.env.VK_DRIVER_FILES || !existsSync(driver)) return {};
  const libraries = [folder, process.env.LD_LIBRARY_PATH].filter(Boolean).join(':');
  return { VK_ICD_FILENAMES: driver, LD_LIBRARY_PATH: libraries };
}
