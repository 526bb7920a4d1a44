// The experience with this machine between visits, where the browser allows storage.

import { type Experience, noExperience, parseExperience } from './experience';

const KEY = 'vivace-machine';

export function readExperience(adapter: string): Experience {
  try {
    return parseExperience(localStorage.getItem(KEY), adapter);
  } catch {
    return noExperience(adapter); // storage is refused, as in a cross-site frame
  }
}

export function writeExperience(seen: Experience): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(seen));
  } catch {
    // without storage it lasts as long as the page
  }
}
