import { CHAT_FIELDS } from '#core/contracts/notices/chat-fields.ts';
import { CHAT_URL_CHARS_MAX, EMAIL_CHARS_MAX } from '#core/domain/api-limits.ts';
import { CHAT_NAMES, CHATS } from '#core/domain/notices/notice-ways.ts';
import { useService } from '../../data/hooks.ts';
import {
  MATRIX_FIELD_NAMES,
  MATRIX_FIELDS,
  type MatrixField,
  type NotificationDraft,
} from '../../view/notification.ts';
import { Field } from '../frame/basics.tsx';
import { chatHint, mailHint } from './notify-hints.ts';

const MATRIX: Readonly<Record<MatrixField, { readonly label: string; readonly hint: string }>> = {
  matrixHomeserver: { label: 'Matrix homeserver', hint: 'https://matrix.example.org' },
  matrixRoom: { label: 'Matrix room id', hint: 'In the settings of the room, such as !abc:example.org.' },
  matrixToken: { label: 'Matrix access token', hint: 'Of an account that is in the room.' },
};

/** One field for the mail address, one for each chat, three for Matrix. */
export function NotifyFields({
  draft,
  onChange,
}: {
  readonly draft: NotificationDraft;
  readonly onChange: (changes: Partial<NotificationDraft>) => void;
}) {
  const { config } = useService();
  return (
    <div className="pair">
      <Field label="E-mail" names={['notification.email']} {...mailHint(config.sends_mail)}>
        {(ids) => (
          <input
            {...ids}
            type="email"
            maxLength={EMAIL_CHARS_MAX}
            autoComplete="off"
            value={draft.email}
            onChange={(event) => onChange({ email: event.target.value })}
          />
        )}
      </Field>
      {CHAT_NAMES.map((chat) => (
        <Field
          key={chat}
          label={`${CHATS[chat].label} webhook`}
          names={[`notification.${CHAT_FIELDS[chat]}`]}
          hint={chatHint(chat)}
        >
          {(ids) => (
            <input
              {...ids}
              type="url"
              maxLength={CHAT_URL_CHARS_MAX}
              autoComplete="off"
              value={draft[chat]}
              onChange={(event) => onChange({ [chat]: event.target.value })}
            />
          )}
        </Field>
      ))}
      {MATRIX_FIELD_NAMES.map((name) => (
        <Field key={name} names={[`notification.matrix.${MATRIX_FIELDS[name]}`]} {...MATRIX[name]}>
          {(ids) => (
            <input
              {...ids}
              type={name === 'matrixToken' ? 'password' : 'text'}
              maxLength={CHAT_URL_CHARS_MAX}
              autoComplete="off"
              value={draft[name]}
              onChange={(event) => onChange({ [name]: event.target.value })}
            />
          )}
        </Field>
      ))}
    </div>
  );
}
