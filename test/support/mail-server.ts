import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import type { Certificate } from './certificate.js';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Header fields by lower-case name, unfolded and decoded. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** As transmitted. */
  readonly raw: string;
}

interface MailServerTls {
  readonly certificate: Certificate;
  /** `implicit`: from the first byte (RFC 8314 3). `starttls`: after this command (RFC 3207). */
  readonly mode: 'implicit' | 'starttls';
}

/** Minimal mail server (RFC 5321) with AUTH PLAIN. Without `tls`, it rejects STARTTLS. */
export async function startMailServer(host = '127.0.0.1', port = 0, tls?: MailServerTls) {
  const received: ReceivedMail[] = [];
  const commands: string[] = [];
  /** Commands that arrived without TLS. */
  const unencrypted: string[] = [];
  /** Replies by verb that replace the usual ones; an empty reply closes the connection. */
  const replies = new Map<string, string>();
  const held = new Map<string, Promise<void>>();
  const sockets = new Set<Socket>();
  const hasStartTls = tls?.mode === 'starttls';
  const serve = (socket: Socket): void => {
    const isEncrypted = socket instanceof TLSSocket;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    const reply = async (verb: string, usual: string): Promise<void> => {
      await held.get(verb);
      const text = replies.get(verb) ?? usual;
      if (text === '') socket.destroy();
      else socket.write(`${text}\r\n`);
    };
    let [from, to, data] = ['', [] as string[], null as string[] | null];
    if (!(isEncrypted && hasStartTls)) void reply('CONNECT', '220 mail.example.com');
    const usual: Readonly<Record<string, string>> = {
      EHLO: `250-mail.example.com\r\n${hasStartTls && !isEncrypted ? '250-STARTTLS\r\n' : ''}250-AUTH PLAIN\r\n250 8BITMIME`,
      AUTH: '235 accepted',
      DATA: '354 go on',
      QUIT: '221 bye',
      STARTTLS: hasStartTls ? '220 go ahead' : '502 not implemented',
    };
    const lines = createInterface({ input: socket, crlfDelay: Infinity });
    // Repeats the errors of the socket, such as the reset by a killed process.
    lines.on('error', () => undefined);
    lines.on('line', (line) => {
      if (data !== null) {
        if (line === '.') {
          received.push(parse(from, to, data.join('\r\n')));
          [to, data] = [[], null];
          void reply('MESSAGE', '250 queued');
        } else data.push(line.replace(/^\./, ''));
        return;
      }
      commands.push(line);
      if (!isEncrypted) unencrypted.push(line);
      const verb = line.split(' ')[0]?.toUpperCase() ?? '';
      const address = /<([^>]*)>/.exec(line)?.[1] ?? '';
      if (verb === 'MAIL') from = address;
      if (verb === 'RCPT' && !replies.has('RCPT')) to.push(address);
      if (verb === 'DATA' && !replies.has('DATA')) data = [];
      const replied = reply(verb, usual[verb] ?? '250 ok');
      if (verb !== 'STARTTLS' || !hasStartTls) return;
      lines.close();
      void replied.then(() => serve(new TLSSocket(socket, { isServer: true, ...tls.certificate })));
    });
  };
  const server =
    tls?.mode === 'implicit'
      ? createTlsServer({ ...tls.certificate }, (socket) => serve(socket))
      : createServer((socket) => serve(socket));
  await new Promise<void>((listening) => server.listen(port, host, listening));
  return {
    port: (server.address() as AddressInfo).port,
    commands,
    unencrypted,
    replies,
    received,
    reset(): void {
      received.length = 0;
      replies.clear();
    },
    /** Holds replies to a verb. @returns a function that releases them */
    hold(verb: string): () => void {
      let release: () => void = () => undefined;
      held.set(verb, new Promise((resolve) => (release = resolve)));
      return () => {
        held.delete(verb);
        release();
      };
    },
    to: (address: string): ReceivedMail[] => received.filter(({ to }) => to.includes(address)),
    async close(): Promise<void> {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

export type MailServer = Awaited<ReturnType<typeof startMailServer>>;

function parse(from: string, to: readonly string[], raw: string): ReceivedMail {
  const end = raw.indexOf('\r\n\r\n');
  const fields = raw
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = Object.fromEntries(
    fields.map((field) => {
      const [name = '', ...value] = field.split(':');
      return [name.toLowerCase(), decoded(value.join(':').trim())];
    }),
  );
  const body = raw.slice(end + 4);
  const encoding = headers['content-transfer-encoding'] ?? '';
  const text =
    encoding === 'base64'
      ? Buffer.from(body, 'base64').toString()
      : encoding === 'quoted-printable'
        ? quotedPrintable(body)
        : body;
  return { from, to, headers, text: text.replaceAll('\r\n', '\n'), raw };
}

function quotedPrintable(text: string): string {
  return bytes(text.replaceAll('=\r\n', ''));
}

const bytes = (text: string): string =>
  Buffer.from(
    text.replaceAll(/=([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
    'latin1',
  ).toString();

/** Decodes encoded words (RFC 2047). */
const decoded = (value: string): string =>
  value
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, kind: string, text: string) =>
      kind.toLowerCase() === 'b' ? Buffer.from(text, 'base64').toString() : bytes(text.replaceAll('_', ' ')),
    );
