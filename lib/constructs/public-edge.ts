import { Aws, Duration, Fn, Stack } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AllowedMethods,
  CachePolicy,
  Distribution,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HeadersFrameOption,
  HeadersReferrerPolicy,
  HttpVersion,
  type IOrigin,
  OriginProtocolPolicy,
  OriginRequestPolicy,
  PriceClass,
  ResponseHeadersPolicy,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { CfnRecordSetGroup } from 'aws-cdk-lib/aws-route53';
import { Construct } from 'constructs';
import { DASHBOARD_ASSETS_PREFIX } from '../../core/contracts/internal/dashboard.ts';
import { EDGE_STAMP_HEADER, VIEWER_ADDRESS_HEADER } from '../../core/contracts/internal/edge.ts';
import { SOCKET_PATH } from '../../core/contracts/realtime/realtime.ts';

/** Zone of every distribution, for alias records (AWS documents this constant). */
const CLOUDFRONT_ZONE = 'Z2FDTNDATAQYW2';
/** Time-out of the edge for the API, longer than the API's own 30 seconds: the answer about a time-out is the API's. */
const READ_TIMEOUT = Duration.seconds(35);
/** The contract's HSTS: one year. */
const HSTS_MAX_AGE = Duration.days(365);

/**
 * Statuses that the edge must not keep: it keeps each of them for ten seconds, whatever the answer says, and gives it to all
 * callers of the same path
 * (https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/HTTPStatusCodes.html, codes that are always cached).
 * A repository that one tenant is told not to exist exists for another.
 */
const NEVER_KEPT = [404, 405, 414, 500, 501, 502, 503, 504] as const;

export interface PublicEdgeProps {
  /** `<id>.execute-api.<region>.<suffix>` */
  readonly apiHost: string;
  /** Domain name of the operator, with a certificate in us-east-1. @default the distribution's own name */
  readonly domain?:
    | {
        readonly name: string;
        readonly certificateArn: string;
        /**
         * Hosted zone in which records for the name are made.
         * @default none: the operator points the name at the distribution
         */
        readonly hostedZoneId: string | undefined;
      }
    | undefined;
  /** @default no web ACL */
  readonly webAclArn?: string | undefined;
}

/**
 * One distribution in front of everything, so that one base address carries the whole contract: API and page come from the
 * HTTP API, the socket's path from the WebSocket API. Nothing is cached but files with a hash in their name.
 */
export class PublicEdge extends Construct {
  readonly distribution: Distribution;
  /** `https://host`, without trailing slash. */
  readonly url: string;
  /**
   * Text that the distribution sends with every request to the API: an id that CloudFront makes up and never shows
   * outside of the account. It proves enough to believe the caller's address, which only counts for rates, and that a
   * request passed the rules at the edge. It is never a credential.
   */
  readonly stamp: string;
  readonly #headers: ResponseHeadersPolicy;
  readonly #apiOrigin: IOrigin;
  readonly #tellAddress: EdgeFunction;

  constructor(scope: Construct, id: string, props: PublicEdgeProps) {
    super(scope, id);
    this.#headers = this.#makeHeaders();
    this.stamp = this.#headers.responseHeadersPolicyId;
    const origin = new HttpOrigin(props.apiHost, {
      protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
      readTimeout: READ_TIMEOUT,
      customHeaders: { [EDGE_STAMP_HEADER]: this.stamp },
    });
    const { domain } = props;
    this.#tellAddress = new EdgeFunction(this, 'ViewerAddress', {
      runtime: FunctionRuntime.JS_2_0,
      comment: 'The API sees the address of the edge only',
      code: FunctionCode.fromInline(VIEWER_ADDRESS_CODE),
    });
    this.distribution = new Distribution(this, 'Distribution', {
      comment: `Mergeyard: API, socket and dashboard of ${Stack.of(this).stackName}`,
      httpVersion: HttpVersion.HTTP2_AND_3,
      enableIpv6: true,
      priceClass: PriceClass.PRICE_CLASS_100,
      ...(domain === undefined
        ? {}
        : {
            domainNames: [domain.name],
            certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
            minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
          }),
      ...(props.webAclArn === undefined ? {} : { webAclId: props.webAclArn }),
      errorResponses: NEVER_KEPT.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
      // `/readyz` is here too, and limited like every call without a session.
      defaultBehavior: this.#passThrough(origin, ViewerProtocolPolicy.REDIRECT_TO_HTTPS),
      additionalBehaviors: {
        [`${DASHBOARD_ASSETS_PREFIX}*`]: {
          origin,
          cachePolicy: CachePolicy.CACHING_OPTIMIZED,
          allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
          viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
          responseHeadersPolicy: this.#headers,
          compress: true,
        },
      },
    });
    this.#apiOrigin = origin;
    this.url = `https://${domain?.name ?? this.distribution.distributionDomainName}`;
    if (domain?.hostedZoneId !== undefined) this.#addRecords(domain.name, domain.hostedZoneId);
  }

  /**
   * The socket's path goes to a WebSocket API, whose own path is the name of its stage and nothing else; all other addresses
   * of the API follow. The order is the edge's order: the first pattern that fits is taken.
   */
  addApi(endpoint: { readonly domainName: string; readonly originPath: string }): void {
    const rewrite = new EdgeFunction(this, 'SocketPath', {
      runtime: FunctionRuntime.JS_2_0,
      comment: 'The socket API knows its stage only',
      code: FunctionCode.fromInline(socketPathCode(endpoint.originPath)),
    });
    const origin = new HttpOrigin(endpoint.domainName, {
      protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
      customHeaders: { [EDGE_STAMP_HEADER]: this.stamp },
    });
    this.distribution.addBehavior(SOCKET_PATH, origin, {
      cachePolicy: CachePolicy.CACHING_DISABLED,
      // Handshake headers, cookie, origin and the ticket in the query; not the host, which names the API for the gateway.
      originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
      viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
      functionAssociations: [{ function: rewrite, eventType: FunctionEventType.VIEWER_REQUEST }],
    });
    // A page that is asked for over plain HTTP may be sent on; a call with a credential in it may not.
    const { origin: apiOrigin, ...options } = this.#passThrough(
      this.#apiOrigin,
      ViewerProtocolPolicy.HTTPS_ONLY,
    );
    this.distribution.addBehavior('/api/*', apiOrigin, options);
  }

  #passThrough(origin: IOrigin, viewerProtocolPolicy: ViewerProtocolPolicy) {
    return {
      origin,
      cachePolicy: CachePolicy.CACHING_DISABLED,
      originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      allowedMethods: AllowedMethods.ALLOW_ALL,
      viewerProtocolPolicy,
      responseHeadersPolicy: this.#headers,
      functionAssociations: [{ function: this.#tellAddress, eventType: FunctionEventType.VIEWER_REQUEST }],
    };
  }

  /** Security headers of the API's answers. Those of the page are stricter, come with its answers, and win. */
  #makeHeaders(): ResponseHeadersPolicy {
    const override = false;
    return new ResponseHeadersPolicy(this, 'Headers', {
      // Names of policies are shared by all regions of an account; the library puts no region into this one.
      responseHeadersPolicyName: `${Aws.STACK_NAME}-${Aws.REGION}-headers`,
      comment: 'Answers of Mergeyard are no pages to be framed, guessed at or fetched in the clear',
      securityHeadersBehavior: {
        strictTransportSecurity: { accessControlMaxAge: HSTS_MAX_AGE, includeSubdomains: true, override },
        contentTypeOptions: { override: true },
        frameOptions: { frameOption: HeadersFrameOption.DENY, override },
        referrerPolicy: { referrerPolicy: HeadersReferrerPolicy.NO_REFERRER, override },
      },
    });
  }

  #addRecords(name: string, hostedZoneId: string): void {
    const aliasTarget = { dnsName: this.distribution.distributionDomainName, hostedZoneId: CLOUDFRONT_ZONE };
    new CfnRecordSetGroup(this, 'Records', {
      hostedZoneId,
      recordSets: (['A', 'AAAA'] as const).map((type) => ({ name: `${name}.`, type, aliasTarget })),
    });
  }
}

/** Edge function that overwrites the viewer-address header of the client with the address that the edge saw. */
const VIEWER_ADDRESS_CODE = `function handler(event) { var request = event.request; request.headers['${VIEWER_ADDRESS_HEADER}'] = { value: event.viewer.ip }; return request; }`;

/**
 * Edge function that rewrites the path of the socket and adds the caller's address. The query stays, because it carries
 * the ticket.
 */
function socketPathCode(path: string): string {
  return `function handler(event) { var request = event.request; request.uri = '${path}'; request.headers['${VIEWER_ADDRESS_HEADER}'] = { value: event.viewer.ip }; return request; }`;
}

/** Host of an HTTP or WebSocket API in this region. */
export function apiHostOf(apiId: string): string {
  return Fn.join('', [apiId, '.execute-api.', Aws.REGION, '.', Aws.URL_SUFFIX]);
}
