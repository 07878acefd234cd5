import { describePushBeforeCall } from './push-before-call.suite.ts';

describePushBeforeCall(1);
