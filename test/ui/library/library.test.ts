// The list of conversations without a browser: what a reader hears when storage or a part of the page fails.

import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { ConversationStore } from '../../../src/ui/conversation/conversation_store';
import { libraryParts } from '../../../src/ui/library/later_parts';
import type { LibraryKeeper } from '../../../src/ui/library/library_keeper';
import type { LibraryNote } from '../../../src/ui/library/library_note';
import type { LibrarySearch } from '../../../src/ui/library/library_search';
import { pageWords } from '../../../src/words/page_words';
import { asking } from '../conversation/asking';

vi.mock('../../../src/ui/library/later_parts', () => ({ libraryParts: vi.fn() }));

type Library = HTMLElementTagNameMap['vivace-library'];
/** What the tests see of the element. */
interface Inner {
  store: ConversationStore;
  keeper: LibraryKeeper;
  note: LibraryNote;
  finder: LibrarySearch;
  renderRoot: object;
  exportAll(): Promise<void>;
  deleteAll(): Promise<void>;
  onKey(event: object): void;
}

let library: Library;
let inner: Inner;
let said: string[];

beforeAll(async () => {
  vi.stubGlobal('navigator', { platform: '' });
  await import('../../../src/ui/library/library');
  vi.unstubAllGlobals();
});

beforeEach(() => {
  library = new (customElements.get('vivace-library') as unknown as new () => Library)();
  inner = library as unknown as Inner;
  Object.defineProperty(library, 'updateComplete', { value: Promise.resolve(true) }); // nothing renders here
  inner.renderRoot = { querySelector: () => null, querySelectorAll: () => [] };
  said = [];
  vi.spyOn(inner.note, 'say').mockImplementation((text) => void said.push(text));
});

afterEach(() => {
  inner.store.close();
  vi.mocked(libraryParts).mockReset();
});

/** The field of a rename, as if it were on the page. */
function showField(value: string): void {
  inner.renderRoot = { querySelector: () => ({ value, select: () => {} }), querySelectorAll: () => [] };
}

const partsFail = () => vi.mocked(libraryParts).mockRejectedValue(new TypeError('Failed to fetch'));

test.each(['open', 'export', 'exportMarkdown', 'copyMarkdown', 'exportAll'] as const)(
  '%s says that storage does not answer',
  async (act) => {
    library.summaries = [{ id: 'a', title: 'A', updatedAt: 1, turns: 1 }];
    vi.spyOn(inner.store, 'load').mockRejectedValue(new Error('It hangs.'));
    await (act === 'exportAll' ? inner.exportAll() : library[act]('a'));
    expect(said).toEqual([pageWords().library.unreadable]);
  },
);

test.each(['export', 'exportMarkdown', 'copyMarkdown', 'exportAll'] as const)(
  '%s says that a part of the page did not come',
  async (act) => {
    partsFail();
    const { conversation } = asking('1');
    await inner.store.save(conversation);
    await (act === 'exportAll' ? inner.exportAll() : library[act](conversation.id));
    expect(said).toEqual([pageWords().library.unreadable]);
  },
);

test('an import says so, too, and names the file', async () => {
  partsFail();
  await library.import([new File(['{}'], 'mine.json')]);
  expect(said).toEqual([pageWords().library.unreadableFile('mine.json')]);
});

test('a search says so, too, and the next letter searches again', async () => {
  partsFail();
  const typed = (value: string) =>
    (inner.finder as unknown as { onInput(event: object): void }).onInput({ target: { value } });
  typed('b');
  await vi.waitFor(() => expect(said).toEqual([pageWords().library.unreadable]));
  typed('be');
  await vi.waitFor(() => expect(said.length).toBe(2));
});

test('a conversation that storage has never taken can be deleted, and that can be undone', async () => {
  const { conversation } = asking('1');
  vi.spyOn(inner.store, 'save').mockResolvedValue('refused');
  inner.keeper.keep(conversation);
  await library.delete(conversation.id);
  expect(inner.keeper.newer.size).toBe(0);
  expect(said).toEqual([pageWords().library.deleted('')]);
});

test('a name that was not edited leaves a long title as it is', async () => {
  const title = 'A long title that a person gave to a conversation, with more letters than a row shows';
  const { conversation } = asking('1');
  await inner.store.save(conversation);
  await inner.store.rename(conversation.id, title);
  library.summaries = await inner.store.list();
  showField(library.summaries[0]?.title ?? '');
  await library.startRename(conversation.id);
  expect(library.renamed?.title).toBe(title);
  await library.rename(conversation.id, title);
  expect((await inner.store.load(conversation.id))?.title).toBe(title);
});

test('what is typed before the whole title is here stays', async () => {
  const { conversation } = asking('1');
  await inner.store.save(conversation);
  await inner.store.rename(conversation.id, 'A title '.repeat(9));
  library.summaries = await inner.store.list();
  const shown = library.summaries[0]?.title;
  showField('S');
  await library.startRename(conversation.id);
  expect(library.renamed?.title).toBe(shown);
});

test('a conversation that storage refuses can be renamed, and has its title once it is stored', async () => {
  const { conversation } = asking('1');
  const refuse = vi.spyOn(inner.store, 'save').mockResolvedValue('refused');
  inner.keeper.keep(conversation);
  await library.startRename(conversation.id);
  await library.rename(conversation.id, ' Mine ');
  expect(library.summaries).toMatchObject([{ title: 'Mine' }]);
  inner.keeper.keep(asking('2', conversation).conversation); // the chat's next copy
  refuse.mockRestore();
  await library.keepNow();
  expect(await inner.store.load(conversation.id)).toMatchObject({ title: 'Mine', turns: [{}, {}] });
});

test('a deleted conversation that another tab brought back is kept again, once it is opened here', async () => {
  const { conversation } = asking('1');
  await inner.store.save(conversation);
  await library.delete(conversation.id);
  await inner.store.add(asking('2', conversation).conversation);
  await library.open(conversation.id);
  const { conversation: grown, turn } = asking('3', conversation);
  library.keep(grown);
  await library.keepNow();
  expect((await inner.store.load(conversation.id))?.turns.map(({ id }) => id)).toContain(turn.id);
});

test('the conversation that was chosen last is shown, however long another one takes', async () => {
  const [slow, quick] = [asking('1').conversation, asking('2').conversation];
  const shown: string[] = [];
  library.addEventListener('vivace-open-conversation', (event) =>
    shown.push((event as CustomEvent<{ id: string }>).detail.id),
  );
  let come = () => {};
  const comes = new Promise<void>((resolve) => {
    come = resolve;
  });
  vi.spyOn(inner.store, 'load').mockImplementation(async (id) => {
    if (id === quick.id) return quick;
    await comes;
    return slow;
  });
  const opening = library.open(slow.id);
  await library.open(quick.id);
  come();
  await opening;
  expect(shown).toEqual([quick.id]);
});

test('a conversation that was opened during a deletion stays in view', async () => {
  const { conversation } = asking('1');
  await inner.store.save(conversation);
  const fresh = vi.fn();
  library.addEventListener('vivace-new-conversation', fresh);
  library.current = conversation.id;
  const deleting = library.delete(conversation.id);
  library.current = 'another';
  await deleting;
  expect(said).toEqual([pageWords().library.deleted('')]);
  expect(fresh).not.toHaveBeenCalled();
});

test.each(['delete', 'deleteAll'] as const)('an undo of %s takes no place of what was begun meanwhile', async (act) => {
  const { conversation } = asking('1');
  await inner.store.save(conversation);
  library.summaries = await inner.store.list();
  const shown = vi.fn();
  library.addEventListener('vivace-open-conversation', shown);
  let undo = () => {};
  vi.spyOn(inner.note, 'say').mockImplementation((_text, _isError, undoing) => {
    undo = undoing ?? undo;
  });
  const back = vi.spyOn(inner.store, act === 'delete' ? 'add' : 'addAll');
  for (const next of ['fresh', 'another']) {
    library.current = conversation.id;
    await (act === 'delete' ? library.delete(conversation.id) : inner.deleteAll());
    library.current = 'fresh'; // the page shows an empty one
    undo();
    library.current = next;
    await back.mock.results.at(-1)?.value;
    await vi.waitFor(async () => expect(await inner.store.load(conversation.id)).not.toBeNull());
    await new Promise((resolve) => setImmediate(resolve));
    expect(shown).toHaveBeenCalledOnce();
  }
});

test('a key that is held deletes one conversation', async () => {
  class Row {
    dataset = { id: 'a' };
  }
  vi.stubGlobal('HTMLElement', Row);
  const remove = vi.spyOn(inner.store, 'remove');
  const row = new Row();
  const press = (repeat: boolean) =>
    inner.onKey({ key: 'Delete', repeat, composedPath: () => [row], preventDefault() {} });
  for (const repeat of [false, true, true]) press(repeat);
  await vi.waitFor(() => expect(remove).toHaveBeenCalled());
  await new Promise((resolve) => setImmediate(resolve));
  expect(remove).toHaveBeenCalledOnce();
  vi.unstubAllGlobals();
});
