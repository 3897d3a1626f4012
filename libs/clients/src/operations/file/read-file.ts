import { IsArray, IsIn } from 'class-validator';
import { isNode, LineCounter, parseDocument } from 'yaml';
import { at, type Path, type Problem, problem, reports } from '#platform/validation/problem.js';
import { validate } from '#platform/validation/validate.js';
import { fileMemberOf, VERSION } from './client-file.js';
import { type FileEntry, isFields, readEntry } from './file-client.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    file_syntax: { readonly message: string };
    file_malformed: { readonly version: number };
    file_version_unknown: { readonly version: number };
    file_clients_missing: null;
    client_repeated: { readonly clientId: string };
  }
}

class ClientFile {
  @IsIn([VERSION], reports('file_version_unknown', { version: VERSION }))
  version: number;

  @IsArray(reports('file_clients_missing'))
  clients: unknown[];
}

export interface ReadFile {
  /** Clients with different ids, by their index in the file. */
  readonly entries: ReadonlyMap<number, FileEntry>;
  readonly problems: readonly Problem[];
  /** Adds the lines, and sorts by them. */
  readonly located: (problems: readonly Problem[]) => Problem[];
}

/** Reads YAML, which includes JSON. The paths of the problems begin at the file. */
export async function readFile(text: string): Promise<ReadFile> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number): number => lines.linePos(offset).line;
  /** Line of the innermost node of the path that exists in the file. */
  const lineOf = (path: Path): number => {
    const members = path.map((part) => (typeof part === 'string' ? fileMemberOf(part) : part));
    for (let length = members.length; length > 0; length--) {
      const node = document.getIn(members.slice(0, length), true);
      if (isNode(node) && node.range) return lineAt(node.range[0]);
    }
    return 1;
  };
  const located = (problems: readonly Problem[]) =>
    problems.map((found) => ({ line: lineOf(found.path), ...found })).toSorted((a, b) => a.line - b.line);
  const syntax = document.errors.map(({ pos, message }) => ({
    ...problem('file_syntax', [], { message }),
    line: lineAt(pos[0]),
  }));
  if (syntax.length > 0) return { entries: new Map(), problems: syntax, located };
  const { clients, problems } = clientsOf(contentOf(document));
  const entries = new Map<number, FileEntry>();
  for (const [index, client] of clients.entries()) {
    const { entry, problems: found } = await readEntry(client);
    problems.push(...at(['clients', index], found));
    if (!entry) continue;
    const { clientId } = entry;
    if ([...entries.values()].some((other) => other.clientId === clientId))
      problems.push(problem('client_repeated', ['clients', index, 'clientId'], { clientId }));
    else entries.set(index, entry);
  }
  return { entries, problems, located };
}

/** Returns undefined if the parser throws because aliases expand too far. */
function contentOf(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS();
  } catch {
    return undefined;
  }
}

function clientsOf(content: unknown): { readonly clients: readonly unknown[]; readonly problems: Problem[] } {
  if (!isFields(content))
    return { clients: [], problems: [problem('file_malformed', [], { version: VERSION })] };
  const { clients } = content;
  const { problems } = validate(ClientFile, content);
  return { clients: Array.isArray(clients) ? clients : [], problems: [...problems] };
}
