import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect, type Msg } from '@nats-io/transport-node';
import { type MailReply, type MailRequest, PRODUCT_SUBJECTS } from '#messaging/contract.js';
import { natsOptions } from '#messaging/nats.connection.js';
import type { Progress } from '../servers/progress.js';

/** Folder below the data of `npm start`. */
export const MAIL_FOLDER = 'mail';

/**
 * Stands in for the product, which sends the mails of an installation without a mail server: writes each mail to a file.
 * @returns a function that stops it
 */
export async function openMailbox(
  natsUrl: string,
  directory: string,
  show: Progress,
): Promise<() => Promise<void>> {
  const folder = join(directory, MAIL_FOLDER);
  await mkdir(folder, { recursive: true });
  // Invitations contain tokens.
  await chmod(folder, 0o700);
  const write = async (message: Msg): Promise<void> => {
    const { id, data } = message.json<{ readonly id: string; readonly data: MailRequest }>();
    const file = join(folder, `${data.kind}-${data.id}.txt`);
    await writeFile(file, `To: ${data.to}\nSubject: ${data.subject}\n\n${data.text}`, { mode: 0o600 });
    show(`mail to ${data.to}: ${file}`);
    const response: MailReply = { status: 'accepted' };
    message.respond(JSON.stringify({ response, isDisposed: true, id }));
  };
  const nats = await connect(natsOptions(natsUrl, 'mailbox'));
  const requests = nats.subscribe(PRODUCT_SUBJECTS.sendMail);
  await nats.flush();
  const answer = async (): Promise<void> => {
    // Without a reply, the mail is sent again.
    for await (const message of requests)
      await write(message).catch((error: unknown) => show(`mail not written: ${String(error)}`));
  };
  void answer();
  return () => nats.close();
}
