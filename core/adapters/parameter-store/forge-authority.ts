import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';

/** PEM of the private authorities of a deployment; empty without any. Throws when the parameter cannot be read or is empty. */
export async function readForgeAuthority(parameter: string): Promise<string> {
  if (parameter === '') return '';
  const { Parameter } = await new SSMClient({}).send(new GetParameterCommand({ Name: parameter }));
  if (!Parameter?.Value) throw new Error('the parameter of private authorities is empty');
  return Parameter.Value;
}
