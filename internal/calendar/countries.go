package calendar

import (
	"github.com/rickar/cal/v2"
	"github.com/rickar/cal/v2/ar"
	"github.com/rickar/cal/v2/at"
	"github.com/rickar/cal/v2/au"
	"github.com/rickar/cal/v2/be"
	"github.com/rickar/cal/v2/bg"
	"github.com/rickar/cal/v2/br"
	"github.com/rickar/cal/v2/ca"
	"github.com/rickar/cal/v2/ch"
	"github.com/rickar/cal/v2/cy"
	"github.com/rickar/cal/v2/cz"
	"github.com/rickar/cal/v2/de"
	"github.com/rickar/cal/v2/dk"
	"github.com/rickar/cal/v2/ecb"
	"github.com/rickar/cal/v2/ee"
	"github.com/rickar/cal/v2/es"
	"github.com/rickar/cal/v2/fi"
	"github.com/rickar/cal/v2/fr"
	"github.com/rickar/cal/v2/gb"
	"github.com/rickar/cal/v2/gr"
	"github.com/rickar/cal/v2/hr"
	"github.com/rickar/cal/v2/hu"
	"github.com/rickar/cal/v2/ie"
	"github.com/rickar/cal/v2/is"
	"github.com/rickar/cal/v2/it"
	"github.com/rickar/cal/v2/jp"
	"github.com/rickar/cal/v2/ke"
	"github.com/rickar/cal/v2/lt"
	"github.com/rickar/cal/v2/lu"
	"github.com/rickar/cal/v2/lv"
	"github.com/rickar/cal/v2/mt"
	"github.com/rickar/cal/v2/mw"
	"github.com/rickar/cal/v2/mx"
	"github.com/rickar/cal/v2/nc"
	"github.com/rickar/cal/v2/nl"
	"github.com/rickar/cal/v2/no"
	"github.com/rickar/cal/v2/nz"
	"github.com/rickar/cal/v2/pl"
	"github.com/rickar/cal/v2/pt"
	"github.com/rickar/cal/v2/ro"
	"github.com/rickar/cal/v2/rs"
	"github.com/rickar/cal/v2/ru"
	"github.com/rickar/cal/v2/se"
	"github.com/rickar/cal/v2/si"
	"github.com/rickar/cal/v2/sk"
	"github.com/rickar/cal/v2/th"
	"github.com/rickar/cal/v2/ua"
	"github.com/rickar/cal/v2/us"
	"github.com/rickar/cal/v2/za"
)

// nation is what the data has of one country.
type nation struct {
	national []*cal.Holiday            // nil if it knows regions only
	regions  map[string][]*cal.Holiday // by the part of their code after the country's
}

func (n nation) any() bool { return n.national != nil || n.regions != nil }

// countries is the data by country. Adding one is a line here.
func countries() map[string]nation {
	return map[string]nation{
		"AR": {national: ar.Holidays},
		"AT": {national: at.Holidays},
		"AU": {regions: australianRegions()},
		"BE": {national: be.Holidays},
		"BG": {national: bg.Holidays},
		"BR": {national: br.Holidays},
		"CA": {national: ca.Holidays},
		"CH": {national: ch.Holidays, regions: swissRegions()},
		"CY": {national: cy.Holidays},
		"CZ": {national: cz.Holidays},
		"DE": {national: de.Holidays, regions: germanRegions()},
		"DK": {national: dk.Holidays},
		"EE": {national: ee.Holidays},
		"ES": {national: es.Holidays},
		"EU": {national: ecb.Holidays},
		"FI": {national: fi.Holidays},
		"FR": {national: fr.Holidays},
		"GB": {national: gb.Holidays},
		"GR": {national: gr.Holidays},
		"HR": {national: hr.Holidays},
		"HU": {national: hu.Holidays},
		"IE": {national: ie.Holidays},
		"IS": {national: is.Holidays},
		"IT": {national: it.Holidays},
		"JP": {national: jp.Holidays},
		"KE": {national: ke.Holidays},
		"LT": {national: lt.Holidays},
		"LU": {national: lu.Holidays},
		"LV": {national: lv.Holidays},
		"MT": {national: mt.Holidays},
		"MW": {national: mw.Holidays},
		"MX": {national: mx.Holidays},
		"NC": {national: nc.Holidays},
		"NL": {national: nl.Holidays},
		"NO": {national: no.Holidays},
		"NZ": {national: nz.Holidays},
		"PL": {national: pl.Holidays},
		"PT": {national: pt.Holidays},
		"RO": {national: ro.Holidays},
		"RS": {national: rs.Holidays},
		"RU": {national: ru.Holidays},
		"SE": {national: se.Holidays},
		"SI": {national: si.Holidays},
		"SK": {national: sk.Holidays},
		"TH": {national: th.Holidays},
		"UA": {national: ua.Holidays},
		"US": {national: us.Holidays},
		"ZA": {national: za.Holidays},
	}
}

func australianRegions() map[string][]*cal.Holiday {
	return map[string][]*cal.Holiday{
		"ACT": au.HolidaysACT,
		"NSW": au.HolidaysNSW,
		"NT":  au.HolidaysNT,
		"QLD": au.HolidaysQLD,
		"SA":  au.HolidaysSA,
		"TAS": au.HolidaysTAS,
		"VIC": au.HolidaysVIC,
		"WA":  au.HolidaysWA,
	}
}

func swissRegions() map[string][]*cal.Holiday {
	return map[string][]*cal.Holiday{
		"AG": ch.HolidaysAG,
		"AI": ch.HolidaysAI,
		"AR": ch.HolidaysAR,
		"BE": ch.HolidaysBE,
		"BL": ch.HolidaysBL,
		"BS": ch.HolidaysBS,
		"FR": ch.HolidaysFR,
		"GE": ch.HolidaysGE,
		"GL": ch.HolidaysGL,
		"GR": ch.HolidaysGR,
		"JU": ch.HolidaysJU,
		"LU": ch.HolidaysLU,
		"NE": ch.HolidaysNE,
		"NW": ch.HolidaysNW,
		"OW": ch.HolidaysOW,
		"SG": ch.HolidaysSG,
		"SH": ch.HolidaysSH,
		"SO": ch.HolidaysSO,
		"SZ": ch.HolidaysSZ,
		"TG": ch.HolidaysTG,
		"TI": ch.HolidaysTI,
		"UR": ch.HolidaysUR,
		"VD": ch.HolidaysVD,
		"VS": ch.HolidaysVS,
		"ZG": ch.HolidaysZG,
		"ZH": ch.HolidaysZH,
	}
}

func germanRegions() map[string][]*cal.Holiday {
	return map[string][]*cal.Holiday{
		"BB": de.HolidaysBB,
		"BE": de.HolidaysBE,
		"BW": de.HolidaysBW,
		"BY": de.HolidaysBY,
		"HB": de.HolidaysHB,
		"HE": de.HolidaysHE,
		"HH": de.HolidaysHH,
		"MV": de.HolidaysMV,
		"NI": de.HolidaysNI,
		"NW": de.HolidaysNW,
		"RP": de.HolidaysRP,
		"SH": de.HolidaysSH,
		"SL": de.HolidaysSL,
		"SN": de.HolidaysSN,
		"ST": de.HolidaysST,
		"TH": de.HolidaysTH,
	}
}
