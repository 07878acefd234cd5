import { CommonEnv, EnvText, EnvUrl, SurfaceEnv } from '#core/contracts/internal/env.ts';

export const SocketConnectEnv = SurfaceEnv.extend({
  /** Address of this service: pages of its origin may open a socket by cookie. */
  PUBLIC_URL: EnvUrl,
});

export const SocketDisconnectEnv = CommonEnv.extend({ TABLE_NAME: EnvText });

export const SocketDefaultEnv = CommonEnv;

/** The gateway's address comes to the SDK by the SDK's own variable. */
export const SocketPushEnv = CommonEnv.extend({ TABLE_NAME: EnvText });
