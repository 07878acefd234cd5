import type { Notifier } from '../../ports/notifier.ts';
import type { HttpSend } from '../http-guard/http-send.ts';
import { createChatSender } from './chat.ts';
import { createEmailSender } from './email.ts';
import type { EmailConfig } from './mail.ts';
import { createMatrixSender } from './matrix.ts';
import { createWebhookSender } from './webhook.ts';

export interface NotifierConfig {
  readonly email: EmailConfig;
  readonly send: HttpSend;
}

export function createNotifier(config: NotifierConfig): Notifier {
  return {
    ...createEmailSender(config.email),
    ...createChatSender(config.send),
    ...createMatrixSender(config.send),
    ...createWebhookSender(config.send),
  };
}
