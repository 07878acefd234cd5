/** A CloudFormation template, as far as it is read here. */
export interface TemplateDocument {
  readonly Resources: Readonly<Record<string, TemplateResource>>;
  readonly Outputs?: Readonly<Record<string, { readonly Value: unknown }>>;
  readonly [section: string]: unknown;
}

export interface TemplateResource {
  readonly Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: properties are free-form JSON
  readonly Properties?: any;
  readonly DependsOn?: readonly string[] | string;
  readonly [attribute: string]: unknown;
}

export interface FittedTemplate {
  readonly template: TemplateDocument;
  /** Resources that the emulator cannot make, counted by type. */
  readonly leftOut: ReadonlyMap<string, number>;
}

/**
 * The part of a template that an emulator can judge. A type that it does not know is left out, and a reference to one becomes
 * a text. The table is of a type that it knows by another name: `AWS::DynamoDB::Table`, with the same keys.
 */
export function fitEmulator(document: TemplateDocument, known: ReadonlySet<string>): FittedTemplate {
  const leftOut = new Map<string, number>();
  const kept: Record<string, TemplateResource> = {};
  for (const [id, given] of Object.entries(document.Resources)) {
    const resource = adapt(id, given);
    // A gateway that it does not make has no route through it.
    const isBased = resource.Properties?.EgressOnlyInternetGatewayId === undefined;
    if (known.has(resource.Type) && isBased) kept[id] = resource;
    else leftOut.set(given.Type, (leftOut.get(given.Type) ?? 0) + 1);
  }
  const names = new Set([...Object.keys(kept), ...Object.keys((document.Parameters as object) ?? {})]);
  const resources = Object.entries(kept).map(([id, resource]) => {
    const { DependsOn, ...rest } = resource;
    const waited = [DependsOn ?? []].flat().filter((each) => names.has(each));
    const fitted = withTexts(rest, names) as TemplateResource;
    return [id, waited.length === 0 ? fitted : { ...fitted, DependsOn: waited }] as const;
  });
  const { Outputs: _, ...sections } = document;
  return { template: { ...sections, Resources: Object.fromEntries(resources) }, leftOut };
}

/** Without references to what is not there. */
function withTexts(value: unknown, names: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((each) => withTexts(each, names));
  if (typeof value !== 'object' || value === null) return value;
  const { Ref: ref, 'Fn::GetAtt': attribute, 'Fn::Select': selected } = value as Record<string, unknown>;
  if (typeof ref === 'string' && !ref.startsWith('AWS::') && !names.has(ref)) return `left-out-${ref}`;
  if (Array.isArray(attribute) && !names.has(String(attribute[0]))) {
    const [id, name] = attribute.map(String);
    return name?.endsWith('Arn') === true
      ? `arn:aws:ssm:us-east-1:123456789012:parameter/left-out-${id}`
      : `left-out-${id}`;
  }
  // Blocks of IPv6 are given out by AWS.
  if (Array.isArray(selected) && JSON.stringify(selected).includes('Ipv6CidrBlocks')) return '2001:db8::/64';
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withTexts(inner, names)]));
}

/** Things that the emulator does in another way than AWS. */
function adapt(id: string, resource: TemplateResource): TemplateResource {
  if (resource.Type === 'AWS::DynamoDB::GlobalTable') return toPlainTable(resource);
  // It makes up a name without the ending that it then asks for.
  if (resource.Type === 'AWS::SQS::Queue' && resource.Properties?.FifoQueue === true)
    return { ...resource, Properties: { ...resource.Properties, QueueName: `${id}.fifo` } };
  // It reads tags of a key by the names of another API.
  if (resource.Type === 'AWS::KMS::Key') {
    const { Tags: _, ...properties } = resource.Properties;
    return { ...resource, Properties: properties };
  }
  return resource;
}

function toPlainTable(table: TemplateResource): TemplateResource {
  const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, StreamSpecification } = table.Properties;
  return {
    ...table,
    Type: 'AWS::DynamoDB::Table',
    Properties: {
      AttributeDefinitions,
      KeySchema,
      StreamSpecification,
      BillingMode: 'PAY_PER_REQUEST',
      GlobalSecondaryIndexes: (GlobalSecondaryIndexes ?? []).map(
        ({ IndexName, KeySchema: keys, Projection }: Record<string, unknown>) => ({
          IndexName,
          KeySchema: keys,
          Projection,
        }),
      ),
    },
  };
}
