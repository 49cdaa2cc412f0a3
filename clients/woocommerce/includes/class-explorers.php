<?php
/**
 * Where transactions can be looked at.
 *
 * @package ExternalPayments
 */

declare(strict_types=1);

namespace ExternalPayments\WooCommerce;

defined( 'ABSPATH' ) || exit;

/** Block explorers of the production networks. The API names none. */
final class Explorers {

	/** By what a network's ID begins with. */
	private const PAGES = array(
		'avax' => 'https://snowtrace.io/tx/',
		'bnb'  => 'https://bscscan.com/tx/',
		'btc'  => 'https://mempool.space/tx/',
		'eth'  => 'https://etherscan.io/tx/',
		'sol'  => 'https://solscan.io/tx/',
		'tron' => 'https://tronscan.org/#/transaction/',
	);

	/** The reference as HTML, with a link where the network is known. */
	public static function link( string $reference, ?string $blockchain_id ): string {
		$text = '<code>' . esc_html( $reference ) . '</code>';
		// A test network's ID ends with its kind.
		if ( 1 !== preg_match( '/^([a-z]+)(?:-usd[ct])?$/D', (string) $blockchain_id, $parts ) || ! isset( self::PAGES[ $parts[1] ] ) ) {
			return $text;
		}
		return '<a href="' . esc_url( self::PAGES[ $parts[1] ] . rawurlencode( $reference ) ) . '" target="_blank" rel="noreferrer noopener">' . $text . '</a>';
	}
}
