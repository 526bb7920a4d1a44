// The language of pages with the script tag. Its texts are scripts beside the tag's, which the tag and the panel fetch
// when they are needed.

import {
  chooseLanguage,
  type FetchTranslation,
  type Language,
  type Translated,
  type Translation,
  useLanguage,
} from '../../words/language';
import { addScriptBeside } from './own_script';
import { askedLanguage, findTexts } from './shared_texts';

const fetchBeside: FetchTranslation = async (language) => findTexts(language) ?? (await fetchScript(language));

function fetchScript(language: Translated): Promise<Translation> {
  return new Promise((resolve, reject) => {
    const refuse = (why: string) => reject(new Error(why));
    const script = addScriptBeside(`embed_${language}.js`, (failed) => {
      const texts = findTexts(language);
      if (texts) resolve(texts);
      else refuse(failed === null ? 'The script is of another version.' : `${failed} could not be loaded.`);
    });
    if (!script) refuse('The running script has no address.');
  });
}

/** The language that is shown once its texts are here. */
export function chosenLanguage(): Language {
  return chooseLanguage([askedLanguage() ?? '', ...navigator.languages]);
}

/** Shows the texts of the language that the page asks for, or else of the browser's. */
export function showLanguage(): Promise<void> {
  return useLanguage(askedLanguage(), fetchBeside);
}
